"""What pages consist of, as text: ``python -m tests.golden.charts``."""

from __future__ import annotations

from tests.golden.records import Record, session


def lines(page: str) -> str:
    """Return a page in lines, without its style sheet."""
    head, _, rest = page.partition("<style>")
    return (head + rest.partition("</style>")[2]).replace("><", ">\n<")


@Record("charts")
def pages(record: str) -> str:
    return session(record, {"lines": lines})
