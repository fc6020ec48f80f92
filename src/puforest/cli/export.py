"""``puforest export``: a model for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._say import Say
from puforest.cli.tables import atomic_write, refuse_existing
from puforest.export import dot_lines, text_lines, to_onnx, to_treelite

ONE_TREE = "Text and dot"


@command(
    "puforest export model.puf --to onnx -o model.onnx",
    "puforest export model.puf --to text --tree 3 --max-depth 4",
    "puforest export model.puf --to dot --max-depth 3 -o tree.dot",
)
def export(
    say: Say,
    model: o.ModelFile,
    to: Annotated[
        Literal["onnx", "treelite", "text", "dot"],
        typer.Option("--to", help="onnx or treelite: the whole model. text or dot: one tree."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Where to write it; text and dot are printed without it."
        ),
    ] = None,
    tree: Annotated[
        int | None,
        typer.Option("--tree", min=0, help="Which tree; the first is 0.", rich_help_panel=ONE_TREE),
    ] = None,
    max_depth: Annotated[
        int | None,
        typer.Option(
            "--max-depth", min=0, help="Stop after so many splits.", rich_help_panel=ONE_TREE
        ),
    ] = None,
    force: o.Force = False,
) -> dict[str, Any]:
    """Write a model for other programs, or one of its trees for people.

    ONNX runs without Python, treelite compiles forests; pip install 'puforest[export]' brings what
    they need. Text and dot, the language of Graphviz, show a single tree.
    """
    if to in ("onnx", "treelite"):
        if output is None:
            raise ValueError(f"--to {to} writes a binary file: name it by -o")
        if tree is not None or max_depth is not None:
            raise ValueError(f"--to {to} exports all trees: --tree and --max-depth are for text")
    if output is not None:
        refuse_existing(output, force=force)
    fitted = o.load(model)

    def lines() -> Iterator[str]:
        return (text_lines if to == "text" else dot_lines)(fitted, tree or 0, max_depth=max_depth)

    text = None
    if output is None:
        text = "\n".join(lines())
        say.text(text)
    else:
        with atomic_write(output, force=force) as part:
            if to == "onnx":
                to_onnx(fitted, part)
            elif to == "treelite":
                # Its own way to a file reports a full disk without saying so.
                part.write_bytes(to_treelite(fitted).serialize_bytes())
            else:
                with part.open("w", encoding="utf-8", newline="\n") as file:
                    file.writelines(f"{line}\n" for line in lines())
    if output is not None:
        say.info(f"{model} as {to}: {output}")
    return {
        "model": str(model),
        "to": to,
        "output": None if output is None else str(output),
        "text": text,
    }
