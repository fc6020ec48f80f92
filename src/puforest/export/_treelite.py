"""Export to treelite."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from puforest import _validation as check
from puforest._optional_imports import optional_import
from puforest.export._trees import fitted, leaf_values, mean_output
from puforest.io._columns import column_entries

if TYPE_CHECKING:
    import treelite


def to_treelite(model: Any) -> treelite.Model:
    """Export a forest or tree as a treelite model, for its compilers and for inference on GPUs.

    Thresholds and leaf values are float64. The treelite model predicts ``predict_proba(X)[:, 1]``,
    which is to be compared with the number ``threshold`` in its attributes. It takes a matrix of
    numbers; `to_matrix` encodes tables.

    Parameters
    ----------
    model : fitted estimator
        A puforest forest or tree.

    Returns
    -------
    treelite.Model
        A binary classifier with one output. Save it with its ``serialize`` method.

    Examples
    --------
    >>> import numpy as np
    >>> import treelite
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.export import to_treelite
    >>> X = np.array([[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]])
    >>> forest = PUExtraTreesClassifier(prior=0.5, random_state=0).fit(X, [0, 0, 0, 0, 1, 1])
    >>> probability = treelite.gtil.predict(to_treelite(forest), X)
    >>> bool((probability.ravel() == forest.predict_proba(X)[:, 1]).all())
    True
    """
    builders = optional_import("treelite.model_builder", extra="export", purpose="to_treelite")
    estimator = fitted(model, "to_treelite")
    forest, output = estimator._forest, mean_output(estimator)
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
        postprocessor=builders.PostProcessorFunc(name=output.link),
        base_scores=[output.offset],
        attributes={
            "puforest_version": version("puforest"),
            "estimator": type(estimator).__name__,
            "feature_names": [_valid(name) for name in check.feature_names(estimator)],
            "columns": [_valid_entry(entry) for entry in column_entries(estimator._record.schema)],
            "classes": estimator.classes_.tolist(),
            "prior": float(estimator.prior_),
            "voting": estimator.voting,
            "threshold": estimator.threshold_,
        },
    )
    values = output.scale * leaf_values(estimator)
    for t in range(n):
        tree = forest.tree(t)
        columns = (
            tree.feature,
            tree.threshold,
            tree.missing_left,
            tree.n_categories,
            tree.left,
            values[forest.offset[t] : forest.offset[t + 1]],
            tree.n_labeled + tree.n_unlabeled,
        )
        builder.start_tree()
        nodes = zip(*(column.tolist() for column in columns), strict=True)
        for node, (feature, threshold, missing_left, n_listed, left, value, n_rows) in enumerate(
            nodes
        ):
            builder.start_node(node)
            if feature < 0:
                builder.leaf(value)
            elif n_listed:
                builder.categorical_test(
                    feature,
                    default_left=bool(missing_left),
                    category_list=tree.node_categories(node).tolist(),
                    category_list_right_child=bool(missing_left),
                    left_child_key=left,
                    right_child_key=left + 1,
                )
            else:
                builder.numerical_test(
                    feature,
                    threshold,
                    default_left=bool(missing_left),
                    opname="<=",
                    left_child_key=left,
                    right_child_key=left + 1,
                )
            builder.data_count(n_rows)
            builder.end_node()
        builder.end_tree()
    return builder.commit()  # type: ignore[no-any-return]


def _valid(text: str) -> str:
    """Replace unpaired surrogates, which treelite rejects in JSON."""
    return text.encode(errors="replace").decode()


def _valid_entry(entry: dict[str, Any]) -> dict[str, Any]:
    if "categories" not in entry:
        return entry
    labels = [_valid(c) if isinstance(c, str) else c for c in entry["categories"]]
    return entry | {"categories": labels}
