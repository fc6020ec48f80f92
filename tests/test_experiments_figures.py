"""Figures of the experiments: stored in parts, and redrawn without fitting."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments import comparison
from experiments.data import Split
from experiments.figures import Figure, Kept, Picture, draw_all, missing_parts, perform_figures
from experiments.harness import Results


@pytest.fixture
def some_figures(toy):
    """Figures of each kind on small data, and a function that loads it."""
    rng = np.random.default_rng(0)
    digits = np.arange(100) % 10
    images = rng.random((100, 784)).astype(np.float32)
    images[np.arange(100), 28 * 14 + digits] = 2  # a pixel gives each digit away
    names = [f"p{i}" for i in range(784)]
    data = {"toy": toy, "digits": Split(images, digits % 2, images, digits % 2, names, digits)}
    figures = [
        Figure("bars", "Bars", "importances", "toy", draws=2, n_labeled=10),
        Figure("maps", "Maps", "maps", "digits", n_labeled=10),
        Figure("curves", "Curves", "selection", "toy", n_labeled=10, step=2, paper_area=0.5),
    ]
    return figures, data.__getitem__


def test_figures(tmp_path, some_figures):
    figures, load = some_figures
    assert draw_all(figures, tmp_path) == []  # nothing has been run
    perform_figures(figures, tmp_path, load, threads=1)
    bars, maps, curves = draw_all(figures, tmp_path)
    for picture in (bars, maps, curves):
        assert (tmp_path / picture.file).stat().st_size > 1000
    assert "Mean over 2 draws" in bars.text
    assert "Data: a toy" in bars.text
    assert "The data" not in maps.text
    assert "the paper reports 0.5" in curves.text
    kept = Kept.read(figures[0], tmp_path)
    assert kept.columns == list("abcd")
    assert not np.array_equal(kept.parts[0]["PU"], kept.parts[1]["PU"])
    assert_allclose([np.abs(rows["PN"]).sum() for rows in kept.parts.values()], 1)
    pixels = Kept.read(figures[1], tmp_path).parts
    assert [pixels[d]["PN"].argmax() for d in range(10)] == [28 * 14 + d for d in range(10)]
    curve = Kept.read(figures[2], tmp_path)
    assert curve.columns == ["1", "3"]
    assert curve.mean("risk reduction").min() > 0.6


def test_normalized_importances_differ(tmp_path, some_figures):
    figures, load = some_figures
    both = [replace(figures[0], name=str(n), normalized=n, draws=1) for n in (False, True)]
    perform_figures(both, tmp_path, load, threads=1)
    plain, normalized = (Kept.read(figure, tmp_path).mean("PU") for figure in both)
    assert not np.allclose(plain, normalized)


def test_interrupted_figures_are_resumed(tmp_path, some_figures, monkeypatch):
    figures, load = some_figures
    bars = figures[0]
    perform_figures([replace(bars, draws=1)], tmp_path, load, threads=1)
    assert missing_parts(bars, tmp_path) == [1]
    before = (tmp_path / "bars.csv").read_bytes()
    perform_figures([bars], tmp_path, load, threads=1)
    assert (tmp_path / "bars.csv").read_bytes().startswith(before)
    assert missing_parts(bars, tmp_path) == []
    perform_figures([bars], tmp_path, None, threads=1)  # would fail if there were something to load
    (picture,) = draw_all([bars], tmp_path)
    first = (tmp_path / picture.file).read_bytes()
    draw_all([bars], tmp_path)
    assert (tmp_path / picture.file).read_bytes() == first


def test_figure_in_the_report(tmp_path):
    pictures = [Picture("Bars <&>", "bars.svg", "What they <mean>.")]
    comparison.write([], Results(tmp_path / "runs.csv"), pictures, tmp_path)
    assert "![Bars <&>](bars.svg)\n\nWhat they <mean>." in (tmp_path / "report.md").read_text()
    html = (tmp_path / "report.html").read_text()
    assert '<img src="bars.svg" alt="Bars &lt;&amp;&gt;">' in html
    assert "What they &lt;mean&gt;." in html
