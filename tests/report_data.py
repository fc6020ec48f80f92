"""Data of written reports."""

import json
import re

QUICK = {"n_simulations": 0, "n_jobs": 1, "random_state": 0}


def data_of(file):
    """The data of a report, which must be strict JSON."""

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    text = file.read_text(encoding="utf-8")
    block = re.search(r'id="report-data">(.*?)</script>', text, re.DOTALL).group(1)
    return json.loads(block, parse_constant=refuse)
