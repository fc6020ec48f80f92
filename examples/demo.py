"""The main job, on the mushrooms that come with puforest.

1000 edible mushrooms are known; all the others, edible or not, are unlabelled. Learn which are
edible, and compare with the truth, which the forest never sees.
"""

import time

import numpy as np

from puforest import PUExtraTreesClassifier, PURandomForestClassifier
from puforest.datasets import load_mushrooms, make_pu


def main() -> None:
    data = load_mushrooms()
    X, y = data.data, data.target
    test = np.random.default_rng(0).permutation(len(X)) < len(X) // 5
    X_pu, labelled = make_pu(X[~test], y[~test], n_labeled=1000, random_state=0)
    print(f"{labelled.sum()} labelled edible mushrooms, {(labelled == 0).sum()} unlabelled ones,")
    print(f"{X.shape[1]} features; class prior {y.mean():.2f}, taken as known\n")

    print(f"{'':28}{'fit':>8}{'predict':>10}{'accuracy':>10}")
    for cls in (PUExtraTreesClassifier, PURandomForestClassifier):
        forest = cls(prior=y.mean(), random_state=0)
        started = time.perf_counter()
        forest.fit(X_pu, labelled)
        fitted = time.perf_counter()
        predicted = forest.predict(X[test])
        done = time.perf_counter()
        accuracy = (predicted == y[test]).mean()
        times = f"{1e3 * (fitted - started):5.0f} ms{1e3 * (done - fitted):7.1f} ms"
        print(f"{cls.__name__:28}{times}{accuracy:10.2%}")

    importances = forest.feature_importances_
    print(f"\nWhat told them apart ({cls.__name__}, risk reduction by feature):")
    for i in np.argsort(importances)[::-1][:8]:
        bar = "#" * round(40 * importances[i] / importances.max())
        print(f"  {data.feature_names[i]:28}{importances[i]:7.3f}  {bar}")


if __name__ == "__main__":
    main()
