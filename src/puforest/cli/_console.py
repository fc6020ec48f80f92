"""Output of the commands: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from puforest._cleanup import cleanup_if_stopped
from puforest._optional_imports import optional_import
from puforest._text import printable

# Maximum characters of a message and of a table cell: names and cells of files may have millions.
LONGEST, LONGEST_CELL = 1000, 200

# Maximum width of a line, and the width if the output is not a terminal.
WIDEST = 100


def rich(part: str) -> Any:
    """Import a part of Rich, such as ``rich("table")``."""
    return optional_import(f"rich.{part}", extra="cli", purpose="the command line")


def rich_console(*, stderr: bool = False) -> Any:
    """Make a Rich console, which prints colors to terminals only, unless NO_COLOR is set."""
    stream = sys.stderr if stderr else sys.stdout
    terminal = stream.isatty()
    console = rich("console").Console(file=stream, highlight=False, soft_wrap=not terminal)
    if not terminal or console.width > WIDEST:
        console.width = WIDEST
    return console


def safe(text: str, most: int = LONGEST) -> str:
    """Make text of unknown origin safe to print: shorten it, and escape control characters."""
    if len(text) > most:
        end = most // 4
        left_out = f" [{len(text) - most:,} characters] "
        text = text[: most - end] + left_out + text[-end:]
    return printable(text)


def one_line(text: str) -> str:
    """Put a message on one line, safe to print."""
    return safe(" ".join(text.split()))


def safe_lines(text: str) -> str:
    """Make lines of any number and length safe to print."""
    return "\n".join(map(printable, text.split("\n")))


def cell(text: str) -> Any:
    """Make a table cell safe to print, without markup."""
    return rich("text").Text(safe(text, LONGEST_CELL))


@dataclass
class Console:
    """Output of one command.

    Names come from untrusted files: control characters are escaped.

    Attributes
    ----------
    json : bool
        Whether to print one JSON object and nothing else.
    quiet : bool
        Whether to print only results, warnings and errors.
    verbose : bool
        Whether to print details.
    warnings : list of str
        Warnings so far, for the JSON object.
    """

    json: bool = False
    quiet: bool = False
    verbose: bool = False
    warnings: list[str] = field(default_factory=list)

    def info(self, text: str) -> None:
        """Print a message."""
        if not self.quiet and not self.json:
            rich_console(stderr=True).print(safe(text), markup=False)

    def detail(self, text: str) -> None:
        """Print a message if ``--verbose`` is set."""
        if self.verbose and not self.json:
            rich_console(stderr=True).print(safe(text), markup=False, style="dim")

    def warning(self, text: str) -> None:
        """Print a warning."""
        line = " ".join(text.split())
        self.warnings.append(line)
        if not self.json:
            self._print_warning(line)

    def warning_list(self, title: str, items: Sequence[tuple[str, str]], hint: str) -> None:
        """Print a warning about several things, one per line, and what to do about them."""
        listed = "; ".join(f"{name} ({text})" for name, text in items)
        self.warnings.append(" ".join(f"{title}: {listed}".split()))
        if self.json:
            return
        self._print_warning(f"{title}:")
        table = rich("table").Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True, overflow="ellipsis", max_width=WIDEST // 2)
        table.add_column(overflow="fold")
        for name, text in items:
            table.add_row(cell(f"  {name}"), cell(text))
        out = rich_console(stderr=True)
        out.print(table)
        out.print(safe(hint), markup=False)

    def facts(self, title: str, facts: Mapping[str, str], *, is_result: bool = False) -> None:
        """Print names and values, one per line."""
        if self.json or (self.quiet and not is_result):
            return
        table = self._table()
        table.show_header = False
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in facts.items():
            table.add_row(name, rich("text").Text(safe(value)))
        self._print(title, table, is_result=is_result)

    def rows(
        self,
        title: str,
        header: Sequence[str],
        rows: Sequence[Sequence[str]],
        footnote: str = "",
        *,
        is_result: bool = True,
    ) -> None:
        """Print a table; columns with a header, except the first, hold numbers."""
        if self.json or (self.quiet and not is_result):
            return
        table = self._table()
        for i, name in enumerate(header):
            table.add_column(name, justify="right" if i and name else "left", no_wrap=i > 0)
        for row in rows:
            table.add_row(*map(cell, row))
        self._print(title, table, is_result=is_result, footnote=footnote)

    def text(self, text: str) -> None:
        """Print lines of text as a result."""
        if not self.json:
            sys.stdout.write(safe_lines(text if text.endswith("\n") else text + "\n"))

    def result(self, result: Mapping[str, Any]) -> None:
        """Print the result as one JSON object if ``--json`` is set."""
        if self.json:
            # ASCII has no control characters besides those that JSON escapes, and DEL.
            text = json.dumps(json_value({**result, "warnings": self.warnings}), allow_nan=False)
            sys.stdout.write(text.replace("\x7f", "\\u007f") + "\n")

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[float], None]]:
        """Show a progress bar on a terminal; the callback takes a fraction between 0 and 1."""
        if self.quiet or self.json or not sys.stderr.isatty():
            yield lambda fraction: None
            return
        module = rich("progress")
        columns = [
            module.TextColumn("{task.description}", markup=False),
            module.BarColumn(bar_width=30),
            module.TaskProgressColumn(),
            module.TimeElapsedColumn(),
        ]
        bar = module.Progress(*columns, console=rich_console(stderr=True), transient=True)
        with cleanup_if_stopped(bar.stop), bar:
            task = bar.add_task(safe(what, LONGEST_CELL), total=1.0)
            yield lambda fraction: bar.update(task, completed=fraction)

    @staticmethod
    def _print_warning(line: str) -> None:
        marked = rich("text").Text.assemble(("warning: ", "bold yellow"), safe(line))
        rich_console(stderr=True).print(marked)

    def _table(self) -> Any:
        box = rich("box").SIMPLE_HEAD
        return rich("table").Table(box=box, pad_edge=False, show_edge=False)

    def _print(self, title: str, table: Any, *, is_result: bool, footnote: str = "") -> None:
        out = rich_console(stderr=not is_result)
        if title:  # not that of the table, which is wrapped at the width of the table
            out.print(safe(title), markup=False, style="bold")
        out.print(table)
        if footnote:
            out.print(safe(footnote), markup=False)
        out.print()


def json_value(value: Any) -> Any:
    """Convert a value to the types of JSON; numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(name): json_value(item) for name, item in value.items()}
    if hasattr(value, "tolist"):  # arrays and scalars of NumPy
        return json_value(value.tolist())
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
