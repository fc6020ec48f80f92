"""Every command of the README and of the pages runs."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
from check_sheets import read_sheet, save_sheet

from puforest import pu_forest
from puforest.cli import demo
from puforest.cli._app import COMMANDS, run

ROOT = Path(__file__).parents[1]
PAGES = {path.name: path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}


def commands(page):
    """Program and arguments of each line of the blocks for shells."""
    for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            yield shlex.split(line, comments=True) or [""]


def fill_in(name):
    """Save to-check.csv as checked.csv, with the true classes as verdicts."""
    sheet = read_sheet(name.replace("checked", "to-check"))
    known, new = demo.mushrooms()
    sample = known if f" {demo.KNOWN}, " in sheet.rows[0]["origin"] else new
    answered = sheet.answered(lambda row: "yes" if sample.truth[row - 1] else "no")
    save_sheet(answered, name, delimiter=";")


@pytest.mark.parametrize("name", sorted({*PAGES} - {"tables.md"}))  # see test_pages.py
def test_commands_of_the_pages(name, tmp_path, monkeypatch, capsys):
    """In order, beside the data of the demo, with few trees to save time."""
    for limit in ("FIRST_TREES", "MAX_TREES"):
        monkeypatch.setattr(pu_forest, limit, 20)
    demo.write_data(tmp_path, *demo.mushrooms(), force=False)
    monkeypatch.chdir(tmp_path)
    for program, *arguments in commands(PAGES[name]):
        if program == "cd" and (tmp_path / arguments[0]).is_dir():
            monkeypatch.chdir(arguments[0])
        if program == "puforest":
            for option, value in pairwise(arguments):
                if option == "--checked" and not Path(value).exists():
                    fill_in(value)
            assert run(arguments) == 0, (arguments, capsys.readouterr().err)


def test_the_page_shows_every_command():
    shown = {
        arguments[0]
        for program, *arguments in commands(PAGES["command-line.md"])
        if program == "puforest"
    }
    assert shown == set(COMMANDS)
