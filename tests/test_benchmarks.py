"""The benchmarks, run on tables that are too small to measure speed."""

import json
import sys

import pytest

from benchmarks import compare, contestants, machine, report, scale, track, workloads
from benchmarks.records import append_line, read_lines

TINY = ["--workloads", "synthetic-400x8", "--trees", "2", "--threads", "1", "--rounds", "1"]
SETUP = {"cpu": "some CPU", "python": "3.11", "versions": {"puforest": "1.0"}}


def line(contestant, fit, workload="mnist", task="pn", threads=1, number=0, **more):
    key = {"workload": workload, "task": task, "contestant": contestant, "threads": threads}
    times = {"fit": fit, "predict_batch": fit / 100, "predict_one": fit / 1000, "accuracy": 0.9}
    return key | {"trees": 100, "round": number} | times | SETUP | more


def test_compare_resumes(tmp_path):
    out = tmp_path / "compare.jsonl"
    arguments = [*TINY, "--only", "puforest extra trees", "scikit-learn E", "--out", str(out)]
    compare.main([*arguments, "--no-memory"])
    first = read_lines(out)
    assert {(r["contestant"], r["task"]) for r in first} >= {
        (report.ET, "pn"),
        (report.SK_ET, "pn"),
        (report.PU, "pu"),
        (report.PU_MAX, "pu"),
        (report.SK_PU, "pu"),
    }
    assert all(r["bytes_per_node"] > 0 and 0 <= r["accuracy"] <= 1 for r in first)
    text = out.read_text()
    out.write_text(text[: text.rindex('"fit"')])  # a line truncated by a crash is measured again
    compare.main([*arguments, "--no-memory"])
    again = read_lines(out)
    assert [r["contestant"] for r in again] == [r["contestant"] for r in first]
    compare.main([*arguments, "--no-memory", "--rounds", "2"])
    seeds = [r["random_state"] for r in read_lines(out)]
    assert seeds == [0] * len(first) + [1] * len(first)


def test_records_of_another_build_are_measured_again(tmp_path):
    out = tmp_path / "compare.jsonl"
    arguments = [*TINY, "--no-memory", "--only", report.RF, "--out", str(out)]
    compare.main(arguments)
    out.write_text(out.read_text().replace(machine.setup()["build"], "another"))
    compare.main(arguments)
    assert [r["build"] == "another" for r in read_lines(out)] == [True, False]
    compare.main([*arguments, "--fresh"])
    assert len(read_lines(out)) == 1


def test_peak_memory_is_measured_in_a_separate_process(tmp_path):
    out = tmp_path / "compare.jsonl"
    compare.main([*TINY, "--only", report.RF, "--out", str(out)])
    assert [r["memory_over_x"] > 0 for r in read_lines(out) if r["kind"] == "memory"]


def test_a_failing_contestant_does_not_stop_the_others(tmp_path, monkeypatch, capsys):
    def broken(setting):
        raise RuntimeError("cannot")

    field = [contestants.Contestant("broken", "pn", broken), contestants.contestants()[0]]
    monkeypatch.setattr(compare, "contestants", lambda checkout: field)
    out = tmp_path / "compare.jsonl"
    with pytest.raises(SystemExit, match="1 measurements failed"):
        compare.main([*TINY, "--no-memory", "--out", str(out)])
    assert "broken failed" in capsys.readouterr().err
    assert [r["contestant"] for r in read_lines(out)] == [report.ET]


def test_exact_names_take_precedence_over_parts_of_names():
    everybody = contestants.contestants(None)
    assert [c.name for c in compare.chosen(everybody, ["scikit-learn ExtraTrees"])] == [
        "scikit-learn ExtraTrees"
    ]
    parts = compare.chosen(everybody, ["learn ExtraTrees"])
    assert {"scikit-learn ExtraTrees", "scikit-learn ExtraTrees, P against U"} <= {
        c.name for c in parts
    }
    assert compare.chosen(everybody, [""]) == everybody
    assert compare.chosen(everybody, ["nobody"]) == []


def test_published_data_requires_a_folder(tmp_path):
    with pytest.raises(SystemExit, match="--data"):
        compare.main(["--workloads", "mnist", "--out", str(tmp_path / "compare.jsonl")])


def test_setup_contains_no_paths(tmp_path):
    text = json.dumps(machine.setup())
    assert "/" not in text.replace(machine.setup()["cpu"], "")


def test_fallback_is_detected():
    logger = contestants.logging.getLogger("sklearnex")
    with contestants.listening() as listener:
        assert listener.fell_back() is None
        logger.info("fit: running accelerated version on CPU")
        assert listener.fell_back() is False
        logger.info("predict: fallback to original Scikit-learn")
        assert listener.fell_back() is True


def test_authors_code(tmp_path, monkeypatch):
    (tmp_path / "trees.py").write_text("""
import numpy as np

class PUExtraTrees:
    def __init__(self, n_estimators, risk_estimator, loss, n_jobs):
        assert (n_estimators, risk_estimator, n_jobs) == (2, "nnPU", 1)

    def fit(self, P, U, pi):
        assert len(P) < len(U) and 0 < pi < 1
        self.middle = (P[:, 0].mean() + U[:, 0].mean()) / 2
        return self

    def predict(self, X):
        return np.where(X[:, 0] > self.middle, 1, -1)
""")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "trees", raising=False)
    out = tmp_path / "compare.jsonl"
    options = ["--authors", str(tmp_path), "--only", "authors", "--out", str(out)]
    compare.main([*TINY, *options])
    time, memory = read_lines(out)
    assert time["contestant"] == memory["contestant"] == report.AUTHORS
    assert time["accuracy"] > 0.5
    assert str(tmp_path) not in out.read_text()
    monkeypatch.delitem(sys.modules, "trees")
    with pytest.raises(SystemExit, match=r"no trees\.py"):
        contestants.authors(tmp_path / "nowhere")


def test_report(tmp_path, capsys):
    fits = {1: (8.0, 12.0, 10.0), 2: (5.0, 5.0, 5.0)}
    records = [
        line(report.ET, fit, threads=threads, number=i, bytes_per_node=30, memory_over_x=0.7)
        for threads, rounds in fits.items()
        for i, fit in enumerate(rounds)
    ]
    records += [line(report.SK_ET, 60, bytes_per_node=80), line(report.SK_ET, 20, threads=2)]
    records += [line(report.IX_ET, 30, fallback=True)]
    old = line(report.ET, 1) | {"versions": {"puforest": "0.9"}}
    results = tmp_path / "compare.jsonl"
    results.write_text("".join(json.dumps(r) + "\n" for r in [old, *records]))
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- speed:begin -->\nstale\n<!-- speed:end -->\nafter\n")
    arguments = [str(results), "--out", str(tmp_path), "--readme", str(readme)]
    report.main(arguments)

    captured = capsys.readouterr()
    assert "1 records of other setups" in captured.err
    targets = {tuple(row.split(" | ")[:3]): row for row in captured.out.splitlines()}
    fit = targets["| MNIST", "fit, true classes", report.ET]
    assert fit.endswith("| 6.00×, met | 4.00×, **missed** |")
    assert "2.00×, met" in targets["| MNIST", "fit on all threads", report.ET]
    assert "0.70, **missed**" in targets["| MNIST", "peak memory of the fit / X", report.ET]
    assert "0.38, met" in targets["| MNIST", "bytes per node / theirs", report.ET]
    assert targets["| Covertype", "fit, true classes", report.ET].count("not measured") == 2

    text = readme.read_text()
    assert text.startswith("before\n")
    assert text.endswith("<!-- speed:end -->\nafter\n")
    assert "stale" not in text
    assert f"| MNIST: fit, extra trees, PN | {report.SK_ET} | 6.0× | 90.0 / 90.0 |" in text
    assert "(fell back) | 3.0×" in text
    assert "Not measured: CIFAR-10; Covertype" in text
    report.main(arguments)
    assert readme.read_text() == text

    page = (tmp_path / "compare.md").read_text()
    assert "medians of 1 round;" in page
    assert f"{report.IX_ET} (fell back to scikit-learn) | 30.00 (2.0×)" in page
    assert (tmp_path / "speed.svg").read_text().startswith("<?xml")


def test_targets_for_threads_require_several_threads():
    results = report.Results([line(report.ET, 10)])
    rows = [r for r in report.target_table(results).splitlines() if "fit on all threads" in r]
    assert all(row.endswith("| not measured |") for row in rows)


def test_report_errors(tmp_path):
    with pytest.raises(SystemExit, match="no results"):
        report.main([str(tmp_path / "nothing.jsonl")])
    for text in ("no markers", "<!-- speed:end --><!-- speed:begin -->"):
        with pytest.raises(SystemExit, match="needs one"):
            report.between_markers(text, "speed", "part")


def test_synthetic_file(tmp_path, monkeypatch):
    monkeypatch.setattr(workloads, "CHUNK", 64)
    y = workloads.synthetic_file(tmp_path / "X.npy", 200, 8)
    X = scale.np.load(tmp_path / "X.npy", mmap_mode="r")
    assert X.shape == (200, 8)
    assert X.dtype == scale.np.float32
    parts = list(workloads.synthetic_chunks(200, 8))
    assert (scale.np.concatenate([part for part, _ in parts]) == X).all()
    assert (y == scale.np.concatenate([part for _, part in parts])).all()


def test_scale(tmp_path):
    sizes = ["--sizes", "500", "1000", "--columns", "8", "--predict", "300", "--rounds", "1"]
    scale.main([*sizes, "--trees", "2", "--threads", "1", "--out", str(tmp_path)])
    records = read_lines(tmp_path / "scale.jsonl")
    assert [(r["rows"], r["task"]) for r in records] == [
        (n, task) for n in (500, 1000) for task in ("pn", "pu")
    ]
    assert all(r["predict_rows"] == 300 and r["nodes"] > 2 for r in records)
    assert "Fit time, nnPU: proportional to rows^" in (tmp_path / "scale.md").read_text()
    assert (tmp_path / "scale.svg").exists()
    assert scale.slope([10, 100, 1000], [2, 20, 200]) == pytest.approx(1)


def test_track_history(tmp_path, monkeypatch, capsys):
    numbers = iter([1004, 1000, 900, 902])

    def counter():
        number = next(numbers)
        return [{"case": "fit", "nodes": 7, "checksum": "ab", "instructions": number}]

    monkeypatch.setattr(track, "count", counter)
    out = ["--out", str(tmp_path / "track.jsonl")]
    track.main(out)
    track.main(out)
    records = read_lines(tmp_path / "track.jsonl")
    assert [r["instructions"] for r in records] == [1000, 900]
    assert records[0]["apart"] == pytest.approx(0.004)
    append_line(tmp_path / "track.jsonl", records[1] | {"checksum": "cd"})
    capsys.readouterr()
    track.main(["--show", *out])
    *_, second, third = capsys.readouterr().out.splitlines()
    assert second.endswith("| -10.00% | 7 | same |")
    assert third.endswith("| +0.00% | 7 | **changed** |")


def test_track_reads_files_of_callgrind(tmp_path):
    for i, (case, total) in enumerate([("between", 5), ("fit, PN", 120)]):
        text = f"desc: Trigger: Client Request: {case}\nevents: Ir\ntotals: {total}\n"
        (tmp_path / f"callgrind.out.9.{i}").write_text(text)
    assert track.counts(tmp_path) == {"between": 5, "fit, PN": 120}


def test_track_checksum_distinguishes_trees():
    cases = track.cases(workloads.synthetic(400, 8))
    sums = set()
    for model, work in cases.values():
        work(model)
        sums.add(track.checksum(model))
    assert len(sums) == 5  # the predictions use the same forest as the first fit


def test_track_names_the_missing_tool():
    with pytest.raises(SystemExit, match="no-such-tool is required to count"):
        track.needed("no-such-tool", "to count")
