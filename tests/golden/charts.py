"""What pages consist of, as text: ``python -m tests.golden.charts``."""

from __future__ import annotations

from pbrain_engine.pages import Curve, html_document, html_table, line_chart
from tests.golden.records import Record


def charts() -> dict[str, str]:
    """Return charts by what they are for; some have nothing to show."""
    rising = [(0.0, 1.0), (1.0, 3.0), (7.5, -2.0)]
    band = ([(0.0, 2.0), (7.5, 0.0)], [(0.0, 0.0), (7.5, -3.0)])
    pair = [Curve("a<b", rising, "a"), Curve("", [(2.0, 0.5)], "b"), Curve("none", [], "c")]
    return {
        "lines": line_chart("t & u", "x & y", "<y>", pair, band, [2.0]),
        "level": line_chart("t", "x", "y", [Curve("flat", [(3.0, 5.0)], "a")]),
        "range": line_chart("t", "x", "y", pair[:1], y_range=(0.0, 2.0)),
        "no lines": line_chart("t", "x", "y", [Curve("", [], "a")]),
    }  # fmt: skip


@Record("charts")
def pages(_: str) -> str:
    """Return a document with them, and a table, but not the style sheet."""
    body = html_table([["a & b", "c"], ["<1>", "2"], ["3", ""]])
    body += "".join(charts().values())
    text = html_document("Title <t>", body, "<script>0</script>\n")
    head, style, rest = text.partition("<style>")
    text = head + style + rest[rest.index("</style>") :]
    return text.replace("><", ">\n<")
