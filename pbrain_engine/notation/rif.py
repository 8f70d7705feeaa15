"""RIF files: the games of RenjuNet, the archive of the Renju International Federation, as XML.

There are lists of countries, players, tournaments, rules of the opening and so on, each entry with
an ``id``, and games that name them: ``<game tournament="43" round="1" rule="6" black="64"
white="115" bresult="1" opening="12" alt="h5" swap="-"><move>h8 h9 ...</move><info/></game>``.
Boards are 15x15, rows count from below, ``alt`` are the fifth moves that were not chosen. Such
files are read and not written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..game.cells import NotationError, parse_moves
from ..game.record import GameRecord
from ..game.tree import GameTree, tree_of, without_bad
from ..position.rules import Rule
from .sgf import read_rule

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

SIZE = 15

_RESULTS = {"1": "1-0", "0": "0-1", "0.5": "1/2-1/2", "1/2": "1/2-1/2"}
_LISTS = ("player", "tournament", "rule", "opening")  # that games name
_BEGINS = re.compile(r"\s*<(?:\?xml|!--|database\b|games?\b|renju)", re.IGNORECASE)


def is_rif(text: str) -> bool:
    """Return whether a text is XML that may be a RIF file."""
    return _BEGINS.match(text) is not None


def parse_rif(text: str) -> list[GameTree]:
    """Return the games of a RIF file; those that are not possible are named in a remark.

    Raises:
        NotationError: it is no XML, or holds no game that is possible.
    """
    from xml.etree import ElementTree  # 10 ms that other files do without

    if "<!ENTITY" in text:  # which could make a small file a huge one
        raise NotationError("a RIF file defines no entities")
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)  # it is decoded already
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise NotationError(f"the RIF file is damaged or cut off: {error}") from None
    known = {kind: {entry.get("id", ""): entry for entry in root.iter(kind)} for kind in _LISTS}
    trees, bad = [], []
    for number, entry in enumerate(root.iter("game"), 1):
        try:
            trees.append(_game(entry, number, known))
        except NotationError as error:
            bad.append(str(error))
    if not trees and not bad:
        raise NotationError("there are no games in this file of XML")
    return without_bad(trees, bad)


def _game(entry: Element, number: int, known: dict[str, dict[str, Element]]) -> GameTree:
    def named(field: str, kind: str) -> str:
        found = known[kind].get(entry.get(field, ""))
        names = () if found is None else (found.get("name", ""), found.get("surname", ""))
        return " ".join(filter(None, map(str.strip, names)))

    words = " ".join(
        filter(None, (child.text for child in entry if child.tag in ("move", "moves")))
    )
    moves = words.split()
    try:
        cells = parse_moves(" ".join(moves), SIZE, SIZE, from_below=True) if moves else []
        rule = named("rule", "rule")
        played = read_rule(rule)
        place = ", ".join(filter(None, (named("tournament", "tournament"), _round(entry))))
        notes = [place, _note("rule", rule), _note("opening", named("opening", "opening")),
                 _note("other fifth moves", entry.get("alt", "")),
                 _note("swap", entry.get("swap", "")), *_infos(entry)]  # fmt: skip
        record = GameRecord(
            SIZE, SIZE, Rule.RENJU if played is None else played, tuple(cells),
            black=named("black", "player"), white=named("white", "player"),
            result=_RESULTS.get(entry.get("bresult", "").strip(), ""),
            date=_date(known["tournament"].get(entry.get("tournament", ""))),
            comment="\n".join(filter(None, notes)),
        )  # fmt: skip
        return tree_of(record).check()
    except NotationError as error:
        raise NotationError(f"game {number} (id {entry.get('id', '?')}): {error}") from None


def _note(what: str, text: str) -> str:
    return f"{what}: {text.strip()}" if text.strip(" -") else ""


def _round(entry: Element) -> str:
    return f"round {entry.get('round')}" if entry.get("round") else ""


def _infos(entry: Element) -> list[str]:
    return [child.text.strip() for child in entry if child.tag == "info" and child.text]


def _date(tournament: Element | None) -> str:
    """Return the year of a tournament, with the month where that is a number."""
    year = "" if tournament is None else tournament.get("year", "").strip()
    month = "" if tournament is None else tournament.get("month", "").strip()
    return f"{year}-{int(month):02}" if year and month.isdecimal() else year
