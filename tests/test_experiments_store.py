"""The CSV files of the experiments: appended lines, replaced lines, and incomplete ones."""

import pytest

from experiments.store import Lines


class ByName(Lines):
    def key(self, line):
        return line["name"]


@pytest.fixture
def lines(tmp_path):
    return ByName(tmp_path / "lines.csv")


def line(name, value="1"):
    return {"name": name, "value": value}


def test_new_lines_are_appended(lines):
    lines.add(line("a"))
    before = lines.path.read_bytes()
    inode = lines.path.stat().st_ino
    lines.add(line("b"), line("c"))
    assert lines.path.read_bytes().startswith(before)
    assert lines.path.stat().st_ino == inode
    assert lines.lines() == ByName(lines.path).lines() == [line(name) for name in "abc"]


def test_lines_of_other_processes_are_seen(lines):
    other = ByName(lines.path)
    lines.add(line("a"))
    other.add(line("b"))
    assert list(lines.by_key()) == ["a", "b"]
    lines.add(line("a", "2"))  # replaces the file
    other.add(line("c"))
    assert lines.lines() == [line("b"), line("a", "2"), line("c")]


def test_incomplete_lines_are_removed(lines):
    lines.add(line("a"), line("b", "text, with a comma"))
    text = lines.path.read_text()
    lines.path.write_text(text[:-5])
    assert lines.lines() == [line("a")]
    lines.add(line("c"))
    assert lines.lines() == ByName(lines.path).lines() == [line("a"), line("c")]


def test_new_columns(lines):
    lines.add(line("a"))
    lines.add(line("b") | {"more": "3"})
    assert lines.lines() == [line("a") | {"more": ""}, line("b") | {"more": "3"}]


def test_lines_are_dropped(lines):
    lines.add(line("a"), line("b", "2"))
    lines.drop(lambda line: line["value"] == "2")
    assert lines.lines() == ByName(lines.path).lines() == [line("a")]


def test_many_lines_are_fast(lines):
    """The file is neither rewritten nor read again from its beginning."""
    lines.add(*(line(str(i)) for i in range(20_000)))
    assert len(lines.lines()) == 20_000
    read = []
    parse = lines.key
    lines.key = lambda line: read.append(line) or parse(line)
    lines.add(line("last"))
    lines.by_key()
    assert len(read) == 2


def test_missing_files_have_no_lines(lines):
    assert lines.lines() == []
    lines.drop(lambda line: True)
    assert not lines.path.exists()
