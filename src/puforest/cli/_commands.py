"""All commands, in the order of the help."""

from puforest.cli import (  # noqa: F401
    demo,
    describe,
    evaluate,
    export,
    fit,
    predict,
    prior,
    report,
)
from puforest.cli._app import app, run, show_traceback

__all__ = ["app", "run", "show_traceback"]

ORDER = ("demo", "prior", "fit", "evaluate", "predict", "describe", "report", "export")

app.registered_commands.sort(key=lambda command: ORDER.index(command.name or ""))
