"""``puforest export``: write a model in another format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._console import Console

ONE_TREE = "Text and DOT"


@command(
    "puforest export model.puf --to onnx -o model.onnx",
    "puforest export model.puf --to text --tree 3 --max-depth 4",
    "puforest export model.puf --to dot --max-depth 3 -o tree.dot",
)
def export(
    console: Console,
    model: o.ModelFile,
    to: Annotated[
        Literal["onnx", "treelite", "text", "dot"],
        typer.Option("--to", help="Format. onnx, treelite: the whole model. text, dot: one tree."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; without it, text and DOT are printed."),
    ] = None,
    tree: Annotated[
        int | None,
        typer.Option("--tree", min=0, help="Index of the tree, from 0.", rich_help_panel=ONE_TREE),
    ] = None,
    max_depth: Annotated[
        int | None,
        typer.Option(
            "--max-depth", min=0, help="Maximum depth to export.", rich_help_panel=ONE_TREE
        ),
    ] = None,
    force: o.Force = False,
) -> dict[str, Any]:
    """Export a model, or one of its trees.

    Models are exported to ONNX or treelite, which requires pip install 'puforest[export]'. Trees
    are exported as text or DOT, the language of Graphviz.
    """
    from puforest.cli.tables._write import atomic_output, refuse_existing
    from puforest.export import dot_lines, text_lines, to_onnx, to_treelite

    if to in ("onnx", "treelite"):
        if output is None:
            raise ValueError(f"--to {to} writes a binary file: name it with -o")
        if tree is not None or max_depth is not None:
            raise ValueError(f"--to {to} exports all trees: remove --tree and --max-depth")
    if output is not None:
        refuse_existing(output, force=force, inputs=[model])
    fitted = o.load(model)

    def lines() -> Iterator[str]:
        return (text_lines if to == "text" else dot_lines)(fitted, tree or 0, max_depth=max_depth)

    text = None
    if output is None:
        text = "\n".join(lines())
        console.text(text)
    else:
        with atomic_output(output, force=force) as part:
            if to == "onnx":
                to_onnx(fitted, part)
            elif to == "treelite":
                # Treelite does not report a full disk when it writes a file itself.
                part.write_bytes(to_treelite(fitted).serialize_bytes())
            else:
                with part.open("w", encoding="utf-8", newline="\n") as file:
                    file.writelines(f"{line}\n" for line in lines())
    if output is not None:
        console.info(f"Exported {model} to {output} ({to})")
    return {
        "model": str(model),
        "to": to,
        "output": None if output is None else str(output),
        "text": text,
    }
