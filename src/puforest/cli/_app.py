"""The Typer application: its commands, their common options, and error handling."""

from __future__ import annotations

import inspect
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from importlib import import_module
from types import TracebackType
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

import puforest
from puforest.cli._console import Console, one_line, rich, rich_console, safe_lines
from puforest.cli._process import EXIT_ERROR

# Problems with files, models, or missing packages. Anything else is a bug.
USER_ERRORS = (ValueError, TypeError, OSError, ImportError, MemoryError)

EXIT_USAGE = 2

# The modules of the commands, in the order of the help. They import NumPy and scikit-learn only
# when they run, so that the help appears at once.
COMMANDS = (
    "demo",
    "prior",
    "fit",
    "evaluate",
    "predict",
    "check",
    "describe",
    "report",
    "export",
)

HELP = """Random forests for positive and unlabeled data.

Some rows are labeled as positive; the others are unlabeled, and may be positive or negative.

\b
Typical workflow:
  puforest prior     estimate the class prior, the fraction of positives
  puforest fit       train a forest, and estimate its quality
  puforest predict   score new rows, or list the ones most likely to be positive
  puforest check     choose rows to look at by hand, to improve the forest and its evaluation

Run "puforest demo" for a complete example, and "puforest COMMAND --help" for options and examples.

Exit codes: 0 success, 1 error, 2 invalid command line, 130 interrupted.
"""

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

app = typer.Typer(
    name="puforest",
    help=HELP,
    add_completion=False,
    rich_markup_mode=None,  # Rich would take most of the time of --help
    pretty_exceptions_enable=False,
    context_settings=CONTEXT,
)


def _version(given: bool) -> None:
    if given:
        typer.echo(f"puforest {puforest.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


OUTPUT = "Output"

Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object and nothing else.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Print only results, warnings and errors.", rich_help_panel=OUTPUT
    ),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print details.", rich_help_panel=OUTPUT)
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of errors.", rich_help_panel=OUTPUT)
]
Run = Callable[..., dict[str, Any]]
COMMON = {"json": Json, "quiet": Quiet, "verbose": Verbose, "debug": Debug}


class CommandWithSections(TyperCommand):
    """A command whose help lists the options of each ``rich_help_panel`` in a section."""

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write the sections."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            section = getattr(param, "rich_help_panel", None) or f"{param.param_type_name}s".title()
            if record is not None:
                sections.setdefault(section, []).append(record)
        for section, records in sections.items():
            with formatter.section(section):
                formatter.write_dl(records)


def command(*examples: str) -> Callable[[Run], Run]:
    """Register a function as a command.

    Its first argument is the `Console`, and its result is printed with ``--json``. An argument
    whose type is a dataclass stands for one option per field. The options in `COMMON` are added.
    The help consists of the docstring and the examples.
    """
    return partial(_register, examples)


def _register(examples: Sequence[str], run: Run) -> Run:
    own = list(inspect.signature(run, eval_str=True).parameters.values())[1:]
    groups: dict[str, Any] = {p.name: p.annotation for p in own if is_dataclass(p.annotation)}
    options = []
    for p in own:
        if p.name in groups:
            types = get_type_hints(p.annotation, include_extras=True)
            options += [_option(f.name, f.default, types[f.name]) for f in fields(p.annotation)]
        else:
            options.append(_option(p.name, p.default, p.annotation))
    options += [_option(name, False, kind) for name, kind in COMMON.items()]

    @wraps(run)
    def wrapped(**values: Any) -> None:
        json, quiet, verbose, debug = (values.pop(name) for name in COMMON)
        console = Console(json=json, quiet=quiet, verbose=verbose)
        for name, group in groups.items():
            values[name] = group(**{f.name: values.pop(f.name) for f in fields(group)})

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            console.warning(str(message))

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.filterwarnings("ignore", category=DeprecationWarning)
                warnings.filterwarnings("ignore", category=FutureWarning)
                warnings.showwarning = show
                console.result(run(console, **values))
        except USER_ERRORS as error:
            if debug:
                raise
            fail(message_of(error))
            raise typer.Exit(EXIT_ERROR) from error

    wrapped.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in options}
    app.command(
        run.__name__,
        cls=CommandWithSections,
        help=_help(run, examples),
        context_settings=CONTEXT,
    )(wrapped)
    return run


def _option(name: str, default: Any, kind: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _help(run: Run, examples: Sequence[str]) -> str:
    """Join the docstring and the examples, whose lines are not wrapped."""
    listed = "\n".join(f"  {example}" for example in examples)
    return f"{inspect.getdoc(run)}\n\n\b\nExamples:\n{listed}"


def message_of(error: Exception) -> str:
    """Return the message of an error; that of a MemoryError mentions memory."""
    message = str(error)
    if isinstance(error, MemoryError) and "memory" not in message:
        return f"not enough memory{': ' if message else ''}{message}"
    return message or repr(error)


def fail(message: str) -> None:
    """Print an error on one line of standard error."""
    line = rich("text").Text.assemble(("error: ", "bold red"), one_line(message))
    rich_console(stderr=True).print(line, soft_wrap=True)


def show_traceback(
    kind: type[BaseException], error: BaseException, where: TracebackType | None
) -> None:
    """Print a traceback with control characters escaped."""
    sys.stderr.write(safe_lines("".join(traceback.format_exception(kind, error, where))))


def load_commands() -> typer.Typer:
    """Return the application with all commands."""
    for name in COMMANDS:
        import_module(f"puforest.cli.{name}")
    return app


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    called: Any = typer.main.get_command(load_commands())
    path = "puforest"
    if not arguments:
        run(["--help"])
        return EXIT_USAGE
    if arguments[0] in called.commands:
        # Not by way of the group: to read its options, Typer would import pydantic, which takes
        # longer than the help of a command.
        name = arguments.pop(0)
        called, path = called.commands[name], f"{path} {name}"
    try:
        done = called(arguments, prog_name=path, standalone_mode=False)
    except typer.TyperException as error:
        message = error.format_message().replace("Value error, ", "").rstrip(".")
        fail(f"{message}{'' if message.endswith('?') else '.'} See {path} --help")
        return EXIT_USAGE
    except typer.Abort:  # Typer's translation of an EOFError
        fail("unexpected end of input")
        return EXIT_ERROR
    return done if isinstance(done, int) else 0
