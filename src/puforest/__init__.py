"""Random forests for positive and unlabeled (PU) data."""

from importlib import import_module

# Type checkers read this as true; importing `typing` would take longer than all other imports.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from puforest._describe import describe
    from puforest.forest import PUExtraTreesClassifier, PURandomForestClassifier
    from puforest.io import load_model as load
    from puforest.pu_forest import PUForestClassifier
    from puforest.recipes import Recipe
    from puforest.tree import PUDecisionTreeClassifier, PUExtraTreeClassifier

    __version__: str

__all__ = [
    "PUDecisionTreeClassifier",
    "PUExtraTreeClassifier",
    "PUExtraTreesClassifier",
    "PUForestClassifier",
    "PURandomForestClassifier",
    "Recipe",
    "describe",
    "load",
]

# Imported on first use, so that the command line starts quickly and can handle signals before.
_PLACES = {
    "PUDecisionTreeClassifier": "tree.PUDecisionTreeClassifier",
    "PUExtraTreeClassifier": "tree.PUExtraTreeClassifier",
    "PUExtraTreesClassifier": "forest.PUExtraTreesClassifier",
    "PUForestClassifier": "pu_forest.PUForestClassifier",
    "PURandomForestClassifier": "forest.PURandomForestClassifier",
    "Recipe": "recipes.Recipe",
    "describe": "_describe.describe",
    "load": "io.load_model",
}
_SUBMODULES = {
    "baselines",
    "calibration",
    "checking",
    "dask",
    "datasets",
    "diagnostics",
    "export",
    "forest",
    "inspection",
    "io",
    "metrics",
    "model_selection",
    "plots",
    "prior",
    "pu_forest",
    "recipes",
    "report",
    "risk",
    "scenario",
    "tree",
}


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return import_module(f"puforest.{name}")
    if name == "__version__":
        value: object = import_module("importlib.metadata").version("puforest")
    elif name in _PLACES:
        module, attribute = _PLACES[name].split(".")
        value = getattr(import_module(f"puforest.{module}"), attribute)
    else:
        raise AttributeError(f"module 'puforest' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES, "__version__"})
