"""What the user gets to see: answers on standard output, all else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from puforest._cleanup import cleanup_if_stopped
from puforest._describe import printable
from puforest._optional_imports import optional_import

# Characters of a message and of a cell of a table: names and cells of files may have millions.
LONGEST, LONGEST_CELL = 1000, 200

# As wide as text reads well, and where nobody says how wide the output is.
WIDEST = 100


def rich(part: str) -> Any:
    """A part of Rich, such as ``rich("table")``."""
    return optional_import(f"rich.{part}", extra="cli", purpose="the command line prints with Rich")


def console(*, stderr: bool = False) -> Any:
    """Rich's console; it turns colors off by itself where there is no terminal, or NO_COLOR."""
    stream = sys.stderr if stderr else sys.stdout
    terminal = stream.isatty()
    made = rich("console").Console(file=stream, highlight=False, soft_wrap=not terminal)
    if not terminal or made.width > WIDEST:
        made.width = WIDEST
    return made


def safe(text: str, most: int = LONGEST) -> str:
    """Text that is safe to show, whoever wrote it: not too long, and no commands to terminals."""
    if len(text) > most:
        end = most // 4
        left_out = f" [{len(text) - most:,} characters] "
        text = text[: most - end] + left_out + text[-end:]
    return printable(text)


def one_line(text: str) -> str:
    """A message on one line, safe to show."""
    return safe(" ".join(text.split()))


def safe_lines(text: str) -> str:
    """Lines of any number and length, safe to show."""
    return "\n".join(map(printable, text.split("\n")))


def cell(text: str) -> Any:
    """A cell of a table, safe to show, in which nothing is markup."""
    return rich("text").Text(safe(text, LONGEST_CELL))


@dataclass
class Say:
    """How to talk to the user of one command.

    Names come from files of anybody: what a terminal would take for a command is shown as a code.

    Attributes
    ----------
    json : bool
        Whether the answer is to be one JSON object, and nothing else on standard output.
    quiet : bool
        Whether to say only what was asked for, warnings and errors.
    verbose : bool
        Whether to say more.
    warnings : list of str
        Warnings so far, for the JSON object.
    """

    json: bool = False
    quiet: bool = False
    verbose: bool = False
    warnings: list[str] = field(default_factory=list)

    def info(self, text: str) -> None:
        """What happens, for those who watch."""
        if not self.quiet and not self.json:
            console(stderr=True).print(safe(text), markup=False)

    def detail(self, text: str) -> None:
        """What only the curious want to know."""
        if self.verbose and not self.json:
            console(stderr=True).print(safe(text), markup=False, style="dim")

    def warning(self, text: str) -> None:
        """What the user should know about the answer."""
        line = " ".join(text.split())
        self.warnings.append(line)
        if not self.json:
            marked = rich("text").Text.assemble(("warning: ", "bold yellow"), safe(line))
            console(stderr=True).print(marked)

    def facts(self, title: str, facts: Mapping[str, str], *, answer: bool = False) -> None:
        """Names and values, one a line; `answer` is what was asked for."""
        if self.json or (self.quiet and not answer):
            return
        table = self._table(title)
        table.show_header = False
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in facts.items():
            table.add_row(name, rich("text").Text(safe(value)))
        self._print(table, answer=answer)

    def rows(
        self,
        title: str,
        header: Sequence[str],
        rows: Sequence[Sequence[str]],
        footnote: str = "",
    ) -> None:
        """The answer as a table; columns are of numbers, but the first and those without a name."""
        if self.json:
            return
        table = self._table(title)
        for i, name in enumerate(header):
            table.add_column(name, justify="right" if i and name else "left", no_wrap=i > 0)
        for row in rows:
            table.add_row(*map(cell, row))
        self._print(table, answer=True, footnote=footnote)

    def text(self, text: str) -> None:
        """The answer as lines of text."""
        if not self.json:
            sys.stdout.write(safe_lines(text if text.endswith("\n") else text + "\n"))

    def result(self, result: Mapping[str, Any]) -> None:
        """The answer as one JSON object, if that was asked for."""
        if self.json:
            said = {**result, "warnings": self.warnings}
            # JSON has no nan: None says that there is no number. ASCII holds no command to a
            # terminal but those that JSON escapes anyway, and DEL.
            text = json.dumps(plain(said), allow_nan=False).replace("\x7f", "\\u007f")
            sys.stdout.write(text + "\n")

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[float], None]]:
        """A bar that takes a share between 0 and 1; only terminals show it."""
        shown = not self.quiet and not self.json and sys.stderr.isatty()
        module = rich("progress")
        columns = [
            module.TextColumn("{task.description}", markup=False),
            module.BarColumn(bar_width=30),
            module.TaskProgressColumn(),
            module.TimeElapsedColumn(),
        ]
        bar = module.Progress(
            *columns, console=console(stderr=True), transient=True, disable=not shown
        )
        with cleanup_if_stopped(bar.stop), bar:
            task = bar.add_task(safe(what, LONGEST_CELL), total=1.0)
            yield lambda share: bar.update(task, completed=share)

    def _table(self, title: str) -> Any:
        return rich("table").Table(
            title=title,
            title_justify="left",
            title_style="bold",
            box=rich("box").SIMPLE_HEAD,
            pad_edge=False,
            show_edge=False,
        )

    def _print(self, table: Any, *, answer: bool, footnote: str = "") -> None:
        out = console(stderr=not answer)
        out.print(table)
        if footnote:
            out.print(safe(footnote), markup=False)
        out.print()


def plain(value: Any) -> Any:
    """Numbers and texts as JSON takes them."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
