"""SGF files, game type 4 (Gomoku): one game, or all games of a file with their variations.

Cells are two letters, column and row from the top left. Rectangular boards are written
``SZ[15:20]``. A move without a cell, ``B[]``, is a pass, and so is ``B[tt]`` on boards without
that cell. Stones are set up before the first move, in the first node or the following ones.
Title and comment of a node are N and C, a text on a cell is a label (LB) of the parent, a bookmark
is HO (hotspot), circles and arrows are CR and AR. SGF has no property for the node where a reader
should start.

``QPR[hh,hg,jf]`` (a proposed opening) is read as moves in turn, ``QSLW[ig]`` (the fourth stone of
a renju opening) as a move by white. Properties not read are listed in a remark of the tree.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from ..errors import Remark, counted
from ..game.cells import SHOWN, NotationError, cell_name, column_letter, format_moves, parse_moves
from ..game.record import GameRecord
from ..game.tree import GameTree, TreeNode, main_line, tree_of, without_bad
from ..position.geometry import Coordinates
from ..position.rules import Rule, Side

_GAME = "4"
# Numbers of games that programs write for five in a row, and the sizes with which they mean others.
_OTHER_BOARDS = {_GAME: (), "5": ("",), "1": ("", "9", "13", "19")}
_RESULTS = {"1-0": "B+", "0-1": "W+", "1/2-1/2": "0"}
_DRAWS = {"0", "DR", "D", "DRAW", "TIE", "JIGO", "1/2"}  # also after "B+", where players agreed
_COLOURS = {"B": Side.BLACK, "W": Side.WHITE, "QSLB": Side.BLACK, "QSLW": Side.WHITE}
_IN_TURN = "QPR"
_STONES = {"AB": Side.BLACK, "AW": Side.WHITE}  # set up without a move
_SETUP = (*_STONES, "AE")  # or removed
_READ = {*_COLOURS, _IN_TURN, *_SETUP, *"AR C CR DT GM HO LB N PB PL PW RE RU SZ".split()}
_KNOWN = _READ | {"AP", "CA", "FF", "GN", "ST"}  # these do not concern the game
_RULE_WORDS = {
    Rule.RENJU: {"renju", "rif", "taraguchi", "yamaguchi", "soosorv", "soosõrv", "sakata"},
    Rule.STANDARD: {"standard"},
    Rule.CARO: {"caro"},
    Rule.FREESTYLE: {"freestyle", "free"},
}  # as other programs name the rules
_NAMED_RULE = re.compile(r"\b(?:(\w+)[ -]rules?\b|rules?: *(\w+))", re.IGNORECASE)
MOST_NAMES = 12  # of what is not read
_VALUE = re.compile(r"\s*\[(?P<body>(?:[^\]\\]|\\.)*+)\\?(?P<end>\]?)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)  # an escaped line end is no line end
_OLD_PASS = "tt"  # of older files, on boards up to 19

_Node = list[tuple[str, list[str]]]  # properties and their values


def format_sgf(record: GameRecord) -> str:
    """Return the game as an SGF file, one move per line."""
    return _format_tree(tree_of(record))


def format_sgf_trees(trees: Iterable[GameTree]) -> tuple[str, list[Remark]]:
    """Return trees as one SGF file, and remarks on what SGF cannot store."""
    starts = labels = 0
    parts: list[str] = []
    for tree in trees:
        parts.append(_format_tree(tree))
        for node, _ in tree.walk():
            starts += node.is_start
            labels += not node.is_move and bool(node.title or node.comment or node.is_marked)
    losses = []
    if starts:
        text = f"SGF cannot store {counted(starts, 'mark')} of where to start"
        losses.append(Remark(text, "lost-starts", n=starts))
    if labels:
        text = f"SGF cannot store {counted(labels, 'comment')} on a cell without a move"
        losses.append(Remark(text, "lost-labels", n=labels))
    return "".join(parts), losses


def parse_sgf(text: str) -> GameRecord:
    """Return the main line of an SGF file; NotationError if it is not a game of five in a row."""
    for nodes, parents in _sequences(text):  # the first game, with first variations only
        ends = (at for at, parent in enumerate(parents) if parent != at - 1)
        end = next(ends, len(nodes))
        return main_line(_build(nodes[:end], parents[:end]))
    raise NotationError("an SGF file begins with '(;'")


def parse_sgf_trees(text: str) -> list[GameTree]:
    """Return all games of an SGF file with their variations; NotationError if there is none.

    If some of several games are invalid, a remark lists them.
    """
    sequences = list(_sequences(text))
    if len(sequences) == 1:
        return [_build(*sequences[0])]
    trees, bad = [], []
    for number, sequence in enumerate(sequences, 1):
        try:
            trees.append(_build(*sequence))
        except NotationError as error:
            bad.append(f"game {number}: {error}")
    if not sequences:
        raise NotationError("an SGF file begins with '(;'")
    return without_bad(trees, bad)


# Writing --------------------------------------------------------------------------------


def _format_tree(tree: GameTree) -> str:
    out: list[str] = []
    stack: list[str | tuple[TreeNode, int]] = [")\n", (tree.root, 0), "("]  # nodes with their ply
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        node, ply = item
        if ply:
            point = "" if node.cell is None else _format_point(node.cell)
            out.append(f"\n;{'BW'[(tree.record.first + ply - 1) % 2]}[{point}]")
        else:
            out.append(_format_root(tree))
        out.append(_format_notes(node, is_root=not ply))
        moves = [child for child in node.children if child.is_move]
        for child in reversed(moves):
            stack += [")", (child, ply + 1), "("] if len(moves) > 1 else [(child, ply + 1)]
    return "".join(out)


def _format_root(tree: GameTree) -> str:
    record = tree.record
    if record.start.walls:
        raise NotationError("blocked cells cannot be saved")
    size = f"{record.width}:{record.height}" if record.width != record.height else record.width
    root = [";GM[4]FF[4]CA[UTF-8]AP[Numoku]", f"SZ[{size}]"]
    if record.rule is not None:
        root.append(f"RU[{record.rule.name.lower()}]")
    result = _RESULTS.get(record.result, record.result)
    properties = [("PB", record.black), ("PW", record.white), ("DT", record.date), ("RE", result),
                  ("C", tree.root.comment)]  # fmt: skip
    root += [f"{name}[{_escape(value)}]" for name, value in properties if value]
    for name, side in _STONES.items():
        cells = [f"[{_format_point(cell)}]" for cell, held in record.placed if held is side]
        root += [name, *cells] if cells else []
    if record.first == Side.WHITE:
        root.append("PL[W]")
    return "".join(root)


def _format_notes(node: TreeNode, is_root: bool) -> str:
    out = []
    if node.title:
        out.append(f"N[{_escape(node.title)}]")
    if node.comment and not is_root:
        out.append(f"C[{_escape(node.comment)}]")
    if node.is_marked:
        out.append("HO[1]")
    drawn = [[*map(_format_point, parse_moves(word))] for word in node.drawn.split()]
    for name, ends in (("CR", 1), ("AR", 2)):
        values = [f"[{':'.join(cells)}]" for cells in drawn if len(cells) == ends]
        out += [name, *values] if values else []
    labels = [
        f"[{_format_point(child.cell)}:{_escape(child.text)}]"
        for child in node.children
        if child.text and child.cell is not None
    ]
    return "".join([*out, "LB" * bool(labels), *labels])


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def _format_point(cell: Coordinates) -> str:
    return column_letter(cell[0]) + column_letter(cell[1])


# Reading --------------------------------------------------------------------------------


def _sequences(text: str) -> Iterable[tuple[list[_Node], list[int]]]:
    """Yield the nodes of each game, with the index of each node's parent."""
    at = text.find("(")
    nodes: list[_Node] = []
    parents: list[int] = []
    open_at: list[int] = []  # for each open bracket, the node before it
    last = -1
    while 0 <= at < len(text):
        sign = text[at]
        if sign == "(":
            open_at.append(last)
        elif sign == ")":
            last = open_at.pop()
            if not open_at:
                if nodes:
                    yield nodes, parents
                nodes, parents, last = [], [], -1
                at = text.find("(", at)
                continue
        elif sign == ";":
            parents.append(last)
            nodes.append([])
            last = len(nodes) - 1
        elif sign.isalnum() and last >= 0:
            start = at
            while at < len(text) and text[at].isalnum():
                at += 1
            name, values = text[start:at], list[str]()
            while (value := _VALUE.match(text, at)) is not None:
                if not value["end"]:
                    where = f"(property {_shown(name)}, character {at + 1})"
                    raise NotationError(f"an SGF value is not closed with ']' {where}")
                values.append(_ESCAPED.sub(lambda sign: sign[1].strip("\n"), value["body"]))
                at = value.end()
            if not values:
                where = f"(character {start + 1})"
                raise NotationError(f"the SGF property {_shown(name)!r} has no value {where}")
            if not name.isupper():  # "SiZe" in older files is SZ, as is "sz"
                capitals = "".join(sign for sign in name if not sign.islower())
                name = capitals if capitals and len(name) > 2 else name.upper()
            nodes[last].append((name, values))
            continue
        elif not sign.isspace():
            raise NotationError(f"{sign!r} is not allowed in SGF here (character {at + 1})")
        at += 1
    if nodes:  # the last bracket is missing
        yield nodes, parents


def _build(nodes: Sequence[_Node], parents: Sequence[int]) -> GameTree:
    """Return a tree built from nodes; NotationError if it is not a game of five in a row."""
    record, stem = _read_root(nodes, parents)
    tree = GameTree(record)
    places: list[tuple[TreeNode, int]] = []  # node of the tree and its ply
    labels: list[tuple[TreeNode, str]] = []
    drawn = defaultdict[int, dict[str, None]](dict)  # by id of the node
    skipped = 0
    for index, (properties, parent) in enumerate(zip(nodes, parents, strict=True)):
        place, ply = places[parent] if parent >= 0 else (tree.root, 0)
        moves = _moves_in(properties)
        for side, point in moves:
            if side not in (None, Side((record.first + ply) % 2)):
                twice = NotationError(f"move {ply + 1}: {side.name.lower()} moves twice")
                raise twice.coded("wrong-turn", n=ply + 1)
            child = TreeNode(_read_point(point, record))
            place.children.append(child)
            place, ply = child, ply + 1
        for name, values in properties:  # of the move, anywhere in its node
            if name == "PL" and ply and not moves:
                said, due = _read_side(values[0]), Side((record.first + ply) % 2)
                if said is not due:
                    turn = f"it is {due.name.lower()}'s turn, not {said.name.lower()}'s"
                    raise NotationError(f"move {ply + 1}: {turn}")
            elif name == "N":
                place.title = values[0]
            elif name == "C":
                noted = place if index else tree.root
                noted.comment = noted.comment or values[0]
            elif name == "HO":
                place.is_marked = True
            elif name in ("CR", "AR"):
                ends = [[cell] for cell in _parse_points(values)]
                if name == "AR":
                    ends = [[*map(_parse_point, value.split(":"))] for value in values]
                drawn[id(place)].update(dict.fromkeys(map(format_moves, ends)))
            elif name == "LB":
                labels += [(place, value) for value in values]
            elif name in _SETUP and index >= stem:
                skipped += len(values)
        places.append((place, ply))
    for place, _ in places:
        place.drawn = " ".join(drawn.get(id(place), ()))
    labelled = {id(place): place for place, _ in labels}
    after = {
        (number, child.cell): child
        for number, place in labelled.items()
        for child in reversed(place.children)
    }
    for place, label in labels:
        point, _, words = label.partition(":")
        cell = _read_point(point, record)
        target = after.get((id(place), cell))
        if target is None:
            target = TreeNode(cell, is_move=False)
            place.children.append(target)
        target.text = words
    if skipped:
        text = f"stones set up in the middle of a game are left out: {skipped}"
        tree.remarks.append(Remark(text, "left-stones", n=skipped))
    root = {name: values[0].strip() for name, values in nodes[0]}
    if record.rule is None and (rule := root.get("RU", "")):
        text = f"RU[{_shown(rule)}] is not a known rule"
        tree.remarks.append(Remark(text, "left-rule", rule=_shown(rule)))
    if not record.result and (result := root.get("RE", "")) not in ("", "?"):
        tree.remarks.append(Remark(f"RE[{_shown(result)}] leaves the result open"))
    unread = sorted({name for properties in nodes for name, _ in properties} - _KNOWN)
    if (game := root.get("GM", _GAME)) not in ("", _GAME):
        unread.insert(0, f"GM[{game}]")
    if unread:
        names, more = ", ".join(map(_shown, unread[:MOST_NAMES])), len(unread) - MOST_NAMES
        names += f" and {more} more" if more > 0 else ""
        text = f"SGF properties left out: {names}"
        tree.remarks.append(Remark(text, "left-names", names=names))
    return tree.check()


def _moves_in(properties: _Node) -> list[tuple[Side | None, str]]:
    """Return the moves of a node as side and point; side None means the side to move."""
    moves: list[tuple[Side | None, str]] = []
    for name, values in properties:
        if name in _COLOURS:
            moves.append((_COLOURS[name], values[0]))
        elif name == _IN_TURN:
            moves += [(None, point) for point in ",".join(values).split(",")]
    return moves


def _read_root(nodes: Sequence[_Node], parents: Sequence[int]) -> tuple[GameRecord, int]:
    """Return a game without its moves, and the number of nodes that describe it.

    These are the nodes up to the first move or the first branch.
    """

    def first(name: str) -> str:
        return root.get(name, [""])[0]

    root = dict(nodes[0])
    game = first("GM").strip() or _GAME
    if game not in _OTHER_BOARDS or first("SZ").strip() in _OTHER_BOARDS[game]:
        other = NotationError(f"GM[{_shown(first('GM'))}] is another game; five in a row is GM[4]")
        raise other.coded("other-game")
    size = re.fullmatch(r"\s*([0-9]{1,4})\s*(?:[:x]\s*([0-9]{1,4})\s*)?", first("SZ") or "15")
    if size is None:
        raise NotationError(f"SZ[{_shown(first('SZ'))}] is not a board size")
    width, height = int(size[1]), int(size[2] or size[1])
    placed: dict[Coordinates, Side] = {}
    to_move = Side.BLACK
    children = Counter(parents)
    for stem, node in enumerate(nodes, 1):
        for name, values in node:
            if name == "PL":
                to_move = _read_side(values[0])
            elif name in _STONES:
                for x, y in _parse_points(values):
                    if (x, y) in placed and x < width and y < height:
                        raise NotationError(f"{cell_name(x, y)} has two stones")
                    placed[x, y] = _STONES[name]
            elif name == "AE":
                for cell in _parse_points(values):
                    placed.pop(cell, None)
        if _moves_in(node) or children[stem - 1] != 1:
            break
    sides = (side for node in nodes for side, _ in _moves_in(node))
    first_side = next(sides, None)
    rule = read_rule(first("RU"))
    if rule is None and (named := _NAMED_RULE.search(first("GN"))):
        rule = read_rule(named[1] or named[2])
    record = GameRecord(
        width, height, rule,
        first=to_move if first_side is None else first_side,
        placed=tuple(sorted(placed.items(), key=lambda held: held[1])),
        black=first("PB"), white=first("PW"),
        result=_read_result(first("RE")), date=first("DT"),
    )  # fmt: skip
    return record, stem


def _shown(text: str) -> str:
    """Return a value for an error message: one line, shortened."""
    return " ".join(text.split())[:SHOWN]


def read_rule(text: str) -> Rule | None:
    """Return the rule with this name, or None if unknown."""
    with suppress(ValueError):
        return Rule.parse(text)
    words = {*re.findall(r"\w+", text.lower())}
    return next((rule for rule, names in _RULE_WORDS.items() if words & names), None)


def _read_result(text: str) -> str:
    """Return a result in the form of records, "" if open or unknown."""
    word = text.strip().upper()
    winner, plus, how = word.partition("+")
    if _DRAWS & {*how.split()} or not plus and (word in _DRAWS or word.startswith(("DR", "1/2"))):
        return "1/2-1/2"
    return {"B+": "1-0", "W+": "0-1"}.get(winner.strip() + plus, word if word in _RESULTS else "")


def _read_side(text: str) -> Side:
    return Side.WHITE if text.strip().upper().startswith("W") else Side.BLACK


def _read_point(text: str, record: GameRecord) -> Coordinates | None:
    """Return the cell of a move, None for a pass."""
    word = text.strip().lower()
    if not word or (word == _OLD_PASS and max(record.width, record.height) <= 19):
        return None
    return _parse_point(word)


def _parse_points(values: Iterable[str]) -> Iterator[Coordinates]:
    """Yield the cells of points and of rectangles such as ``hh:jh``."""
    for value in values:
        corners = [_parse_point(point) for point in value.split(":", 1)]
        (left, right), (top, bottom) = (
            sorted((pair[0], pair[-1])) for pair in zip(*corners, strict=True)
        )
        yield from ((x, y) for y in range(top, bottom + 1) for x in range(left, right + 1))


def _parse_point(text: str) -> Coordinates:
    """Return the cell written as two letters; NotationError if the text is not a cell."""
    word = text.strip().lower()
    if len(word) != 2 or not (word.isascii() and word.isalpha()):
        raise NotationError(f"{_shown(text)!r} is not an SGF cell; cells have two letters, as hh")
    return ord(word[0]) - ord("a"), ord(word[1]) - ord("a")
