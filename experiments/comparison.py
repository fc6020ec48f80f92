"""The report: each cell with the paper's result, ours, and their difference."""

from __future__ import annotations

import html
from pathlib import Path

from experiments.figures import Picture
from experiments.harness import Results
from experiments.tables import LEAST, MEASURES, PAPER_DRAWS, SDS, Cell, Table, reversed_pairs

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #8884; text-align: right; }
td { white-space: nowrap; vertical-align: top; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; background: #fff; }
.apart { background: #d9730d33; }
.quiet { opacity: .65; }
"""


def shown(cell: Cell) -> str:
    """Paper / ours / difference in standard deviations."""
    digits = 3 if cell.measure == "fit_seconds" else 2
    paper = f"{cell.paper.mean:.2f} ({cell.paper.sd:.2f})" if cell.paper else "—"
    if not len(cell.ours):
        return f"{paper} / — "
    draws = f", {len(cell.ours)} draws" if 1 < len(cell.ours) < PAPER_DRAWS else ""
    ours = f"{cell.mean:.{digits}f} ({cell.sd:.{digits}f}{draws})"
    if len(cell.ours) == 1:
        ours = f"{cell.mean:.{digits}f} (1 draw)"
    if cell.in_sds is None:
        return f"{paper} / {ours}"
    if cell.measure == "fit_seconds":
        ratio = cell.paper.mean / cell.mean
        return f"{paper} / {ours} / {ratio:.{0 if ratio > 10 else 1}f} times faster"
    return f"{paper} / {ours} / {cell.in_sds:+.1f} sd"


def remarks_on(table: Table, results: Results) -> list[str]:
    """Remarks under a table: differences, their explanations, and data other than the paper's."""
    differs = {r["dataset"]: r["differs"] for r in results.lines() if r["differs"]}
    remarks = []
    for measure in table.paper:
        for row in table.cells(measure, results):
            if row[0].dataset in differs:
                if measure in ("accuracy", "f1") and sum(is_known(cell) for cell in row) > 1:
                    remarks.append(remark_on_order(row))
                continue
            remarks += [
                f"{cell.dataset}, {cell.method}, {MEASURES[measure]}: paper "
                f"{cell.paper.mean:g}, ours {cell.mean:.2f}: {table.why(cell)}"
                for cell in row
                if cell.differs
            ]
    remarks += [f"{name}: {text}" for name, text in table.notes.items()]
    remarks += [f"{name}: {differs[name]}" for name in table.datasets if name in differs]
    remarks += [
        f"{run.dataset}, {run.method} failed: {error}"
        for run in table.first_runs()
        for error in results.errors(run)
    ]
    return remarks + remarks_on_epochs(table, results)


def is_known(cell: Cell) -> bool:
    """Whether both the paper and we have a result."""
    return cell.paper is not None and len(cell.ours) > 0


def remark_on_order(row: list[Cell]) -> str:
    """For data other than the paper's: whether the order of methods is the same."""
    where = f"{row[0].dataset}, {MEASURES[row[0].measure]}"
    swapped = reversed_pairs(row)
    if not swapped:
        return f"{where}: the data differ; the order of methods is the paper's."
    pairs = "; ".join(f"{second} is better than {first}" for first, second in swapped)
    return f"{where}: the data differ; contrary to the paper, {pairs}."


def remarks_on_epochs(table: Table, results: Results) -> list[str]:
    """Numbers of epochs of the networks."""
    epochs: dict[tuple[str, str], list[int]] = {}
    for line in results.lines():
        if line["method"] in table.methods and line.get("epochs"):
            epochs.setdefault((line["dataset"], line["method"]), []).append(int(line["epochs"]))
    by_data: dict[str, list[str]] = {}
    for (dataset, method), counts in epochs.items():
        span = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
        by_data.setdefault(dataset, []).append(f"{method} {span}")
    return [
        f"{dataset}, number of epochs (200 in the paper): {', '.join(texts)}."
        for dataset, texts in by_data.items()
    ]


def setups(results: Results) -> str:
    lines = results.lines()
    kinds = dict.fromkeys(f"{r['machine']}; {r['versions']}" for r in lines)
    return f"{len(lines)} runs on {' | '.join(kinds)}."


RULE = (
    f"Cells show paper / ours / difference in standard deviations of the difference, as mean (sd) "
    f"over {PAPER_DRAWS} draws unless noted otherwise; our draws include the choice of labeled "
    f"samples. Cells are marked if they differ by more than {SDS:g} standard deviations of the "
    f"paper and by more than {LEAST['accuracy']:g} point ({LEAST['test_risk']:g} for risks). If "
    "the data are not the paper's, only the order of methods is compared: of two methods that "
    "differ in the paper by more than two standard errors and a point, the worse one must not be "
    "better here by as much. A dash means not run, or not in the paper."
)


def markdown(tables: list[Table], results: Results, pictures: list[Picture]) -> str:
    parts = ["# Reproduction of the paper", setups(results), RULE]
    for table in tables:
        parts.append(f"## {table.title}")
        for measure in table.paper:
            parts.append(f"**{MEASURES[measure][0].upper()}{MEASURES[measure][1:]}**")
            lines = ["| | " + " | ".join(table.methods) + " |"]
            lines.append("| --- |" + " --- |" * len(table.methods))
            for row in table.cells(measure, results):
                cells = [shown(c) + (" ⚠" if c.differs else "") for c in row]
                lines.append(f"| {row[0].dataset} | " + " | ".join(cells) + " |")
            parts.append("\n".join(lines))
        if remarks := remarks_on(table, results):
            parts.append("\n".join(f"- {remark}" for remark in remarks))
    for picture in pictures:
        parts += [f"## {picture.title}", f"![{picture.title}]({picture.file})", picture.text]
    return "\n\n".join(parts) + "\n"


def page(tables: list[Table], results: Results, pictures: list[Picture]) -> str:
    e = html.escape
    body = ["<h1>Reproduction of the paper</h1>", f"<p>{e(setups(results))}</p>"]
    body.append(f"<p>{e(RULE)}</p>")
    for table in tables:
        body.append(f"<h2>{e(table.title)}</h2>")
        for measure in table.paper:
            heads = "".join(f"<th>{e(m)}</th>" for m in table.methods)
            body.append(f"<h3>{e(MEASURES[measure])}</h3><table><tr><th></th>{heads}</tr>")
            for row in table.cells(measure, results):
                cells = "".join(
                    f'<td class="{"apart" if c.differs else "" if len(c.ours) else "quiet"}">'
                    f"{e(shown(c)).replace(' / ', '<br>')}</td>"
                    for c in row
                )
                body.append(f"<tr><td>{e(row[0].dataset)}</td>{cells}</tr>")
            body.append("</table>")
        remarks = "".join(f"<li>{e(r)}</li>" for r in remarks_on(table, results))
        body.append(f"<ul>{remarks}</ul>" if remarks else "")
    for picture in pictures:
        title = e(picture.title)
        body.append(f'<h2>{title}</h2><img src="{e(picture.file)}" alt="{title}">')
        body.append(f"<p>{e(picture.text)}</p>")
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>Reproduction of the paper</title><style>{STYLE}</style>{''.join(body)}</html>\n"
    )


def write(tables: list[Table], results: Results, pictures: list[Picture], folder: Path) -> None:
    for name, text in (("report.md", markdown), ("report.html", page)):
        (folder / name).write_text(text(tables, results, pictures), encoding="utf-8")
