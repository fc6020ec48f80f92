"""treelite."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from puforest import _validation as check
from puforest._optional_imports import optional_import
from puforest.export._trees import fitted, leaf_answers

if TYPE_CHECKING:
    import treelite


def to_treelite(model: Any) -> treelite.Model:
    """Build a treelite model, for its compilers and for inference on GPUs.

    Thresholds and answers are in float64. The answer of the treelite model is the mean answer of
    the trees, ``predict_proba(X)[:, 1]``.

    Parameters
    ----------
    model : fitted estimator
        A forest or tree of puforest.

    Returns
    -------
    treelite.Model
        A binary classifier with one output. Its ``serialize`` writes a file.

    Examples
    --------
    >>> import numpy as np
    >>> import treelite
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.export import to_treelite
    >>> X = np.array([[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]])
    >>> forest = PUExtraTreesClassifier(prior=0.5, random_state=0).fit(X, [0, 0, 0, 0, 1, 1])
    >>> share = treelite.gtil.predict(to_treelite(forest), X)
    >>> bool((share.ravel() == forest.predict_proba(X)[:, 1]).all())
    True
    """
    builders = optional_import("treelite.model_builder", extra="export", purpose="to_treelite")
    estimator = fitted(model, "to_treelite")
    forest = estimator._forest
    n = forest.n_trees
    builder = builders.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=builders.Metadata(
            num_feature=forest.n_features,
            task_type="kBinaryClf",
            average_tree_output=True,
            num_target=1,
            num_class=[1],
            leaf_vector_shape=(1, 1),
        ),
        tree_annotation=builders.TreeAnnotation(num_tree=n, target_id=[0] * n, class_id=[0] * n),
        postprocessor=builders.PostProcessorFunc(name="identity"),
        base_scores=[0.0],
        attributes={
            "puforest_version": version("puforest"),
            "estimator": type(estimator).__name__,
            # Halves of characters are no JSON for treelite.
            "feature_names": [
                name.encode(errors="replace").decode() for name in check.feature_names(estimator)
            ],
            "classes": estimator.classes_.tolist(),
            "prior": float(estimator.prior_),
            "voting": estimator.voting,
        },
    )
    answers = leaf_answers(estimator)
    for t in range(n):
        tree = forest.tree(t)
        columns = (
            tree.feature,
            tree.threshold,
            tree.left,
            answers[forest.offset[t] : forest.offset[t + 1]],
            tree.n_labeled + tree.n_unlabeled,
        )
        builder.start_tree()
        nodes = zip(*(column.tolist() for column in columns), strict=True)
        for node, (feature, threshold, left, answer, n_rows) in enumerate(nodes):
            builder.start_node(node)
            if feature < 0:
                builder.leaf(answer)
            else:
                builder.numerical_test(
                    feature,
                    threshold,
                    default_left=False,
                    opname="<=",
                    left_child_key=left,
                    right_child_key=left + 1,
                )
            builder.data_count(n_rows)
            builder.end_node()
        builder.end_tree()
    return builder.commit()  # type: ignore[no-any-return]
