"""Text from files and models, made safe to print."""


def printable(text: str) -> str:
    """Replace line ends and other invisible characters with their codes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
