"""Text from files and models: what it reads as, and how to print it safely."""

import re

# Larger numbers are written with an exponent.
MAX_WITHOUT_EXPONENT = 1e9

# 2024-12-31, 12/31/2024 or 31.12.2024, perhaps with a time
_DATE = re.compile(r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{4})([T ]\d.*)?")


def printable(text: str) -> str:
    """Replace line ends and other invisible characters with their codes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def reads_as_number(text: str) -> bool:
    """Return whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def looks_like_date(text: str) -> bool:
    """Return whether a text has the form of a numeric date."""
    return _DATE.fullmatch(text.strip()) is not None


def rounded(value: float, digits: int = 4) -> str:
    """Return a number with this many significant digits, or all of those before the point.

    Incomes, zip codes and years are read more easily as 50000 than as 5e+04.
    """
    if 10**digits <= abs(value) < MAX_WITHOUT_EXPONENT:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"
