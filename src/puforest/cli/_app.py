"""The program: its commands, what they have in common, and how errors end it."""

from __future__ import annotations

import functools
import inspect
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from types import TracebackType
from typing import Annotated, Any, get_type_hints

import typer
from rich.markup import escape
from rich.text import Text

import puforest
from puforest.cli._process import EXIT_ERROR
from puforest.cli._say import Say, console, one_line, safe_lines

# Mistakes in files, models and what is missing on this machine. All else is a bug.
USER_ERRORS = (ValueError, TypeError, OSError, ImportError, MemoryError)

EXIT_USAGE = 2

HELP = """Forests that learn from positive and unlabeled data.

Some rows are known positives, the others are unlabeled, and nobody has labeled a negative.

The usual way: [bold]prior[/bold] (how many are positive?), [bold]fit[/bold] (learn, with an
estimate of how good it is), [bold]predict[/bold] (score new rows).
[bold]puforest demo[/bold] shows all of it in a minute, and [bold]puforest COMMAND --help[/bold]
explains a command with examples.

Exit codes: 0 done, 1 an error in data or model, 2 a wrong command, 130 interrupted.
"""

app = typer.Typer(
    name="puforest",
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"puforest {puforest.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print it, and exit."),
    ] = False,
) -> None:
    pass


TALK = "How it talks"

Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object and nothing else.", rich_help_panel=TALK),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Print only the answer, warnings and errors.", rich_help_panel=TALK
    ),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print more on the way.", rich_help_panel=TALK)
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show where an error came from.", rich_help_panel=TALK)
]
Run = Callable[..., dict[str, Any]]
COMMON = {"json": Json, "quiet": Quiet, "verbose": Verbose, "debug": Debug}


def command(*examples: str) -> Callable[[Run], Run]:
    """Make a function a command; its first argument is the `Say` that talks to the user.

    What it returns is printed with ``--json``. Options that all commands have are added to its
    own; an argument that is a dataclass stands for several, one a field. Its help is the
    docstring, with examples of use.
    """
    return functools.partial(_add, examples)


def _add(examples: Sequence[str], run: Run) -> Run:
    own = list(inspect.signature(run, eval_str=True).parameters.values())[1:]
    groups: dict[str, Any] = {p.name: p.annotation for p in own if is_dataclass(p.annotation)}
    options = [p for p in own if p.name not in groups]
    for group in groups.values():
        kinds = get_type_hints(group, include_extras=True)
        options += [_option(f.name, f.default, kinds[f.name]) for f in fields(group)]
    options += [_option(name, False, kind) for name, kind in COMMON.items()]

    @functools.wraps(run)
    def wrapped(**values: Any) -> None:
        json, quiet, verbose, debug = (values.pop(name) for name in COMMON)
        say = Say(json=json, quiet=quiet, verbose=verbose)
        for name, group in groups.items():
            values[name] = group(**{f.name: values.pop(f.name) for f in fields(group)})

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            say.warning(str(message))

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.filterwarnings("ignore", category=DeprecationWarning)
                warnings.filterwarnings("ignore", category=FutureWarning)
                warnings.showwarning = show
                say.result(run(say, **values))
        except USER_ERRORS as error:
            if debug:
                raise
            fail(message_of(error))
            raise typer.Exit(EXIT_ERROR) from error

    wrapped.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in options}
    app.command(run.__name__, help=_help(run, examples))(wrapped)
    return run


def _option(name: str, default: Any, kind: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _help(run: Run, examples: Sequence[str]) -> str:
    """The docstring, each paragraph a line for the terminal to break, and the examples."""
    paragraphs = (inspect.getdoc(run) or "").split("\n\n")
    lines = [escape(" ".join(paragraph.split())) for paragraph in paragraphs]
    shown = "\n".join(f"  {escape(example)}" for example in examples)
    return "\n\n".join([*lines, f"[bold]Examples[/bold]\n{shown}"])


def message_of(error: Exception) -> str:
    """What an error says; one about memory says so, whoever ran out of it."""
    message = str(error)
    if isinstance(error, MemoryError) and "memory" not in message:
        return f"there is not enough memory{': ' if message else ''}{message}"
    return message or repr(error)


def fail(message: str) -> None:
    """One line on standard error."""
    line = Text.assemble(("error: ", "bold red"), one_line(message))
    console(stderr=True).print(line, soft_wrap=True)


def show_traceback(
    kind: type[BaseException], error: BaseException, where: TracebackType | None
) -> None:
    """As Python shows it, but for what a terminal would take for a command."""
    sys.stderr.write(safe_lines("".join(traceback.format_exception(kind, error, where))))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    try:
        done = app(arguments, prog_name="puforest", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "puforest"
        message = error.format_message().replace("Value error, ", "").rstrip(".")
        if not message:  # the help has been shown
            return EXIT_USAGE
        fail(f"{message}{'' if message.endswith('?') else '.'} See {path} --help")
        return EXIT_USAGE
    except typer.Abort:  # what Typer makes of an EOFError
        fail("the input ended early")
        return EXIT_ERROR
    return done if isinstance(done, int) else 0
