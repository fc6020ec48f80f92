"""Text from files and models: what it reads as, and how to print it safely."""


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
