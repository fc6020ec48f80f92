"""The page about model files: its code runs, and it names all that a file can hold."""

import re
from pathlib import Path

from fuzz.model_files import originals, unpacked

PAGE = (Path(__file__).parents[1] / "docs" / "model-files.md").read_text()


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, names)
    shares = [names["positive_share"](x) for x in names["X"][:50]]
    assert shares == names["forest"].predict_proba(names["X"][:50])[:, 1].tolist()
    # The same reader for the other way to vote.
    soft = names["forest"].set_params(voting="soft", min_samples_leaf=20, max_depth=4)
    soft.fit(names["X_pu"], names["labeled"]).save("mushrooms.puf")
    exec(re.findall(r"```python\n(import json.*?)```", PAGE, re.DOTALL)[0], names)
    assert names["model"]["parameters"]["voting"] == "soft"


def test_the_page_names_all_fields_and_arrays():
    for original in originals():
        header, arrays = unpacked(original.content)
        named = [*header, *header["model"], *(header["calibration"] or ())]
        for parts in ("grown_for", "masses", "rows", "prior_estimate", "sampling", "out_of_bag"):
            named += list(header["model"].get(parts) or ())
        named += [re.sub(r"^evidence\..*", "evidence.*", name) for name in arrays]
        for name in named:
            assert f"`{name}`" in PAGE, name
