"""SGF files, game type 4 (Gomoku): cells are two letters, column and row from the top left.

The main line is read, variations are passed over. Rectangular boards are written
``SZ[15:20]``. A move without a cell, ``B[]``, is a pass; where there is no such cell, ``B[tt]``
is one too. Stones are set up before the first move, in the first node or in those that follow.
"""

from __future__ import annotations

from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from .cells import NotationError, column_letter
from .game_record import GameRecord, RecordedMove

_RESULTS = {"1-0": "B+", "0-1": "W+", "1/2-1/2": "0"}
_COLOURS = {"B": Side.BLACK, "W": Side.WHITE}
SETUP = ("AB", "AW", "AE")  # stones that are put there or taken away without a move
_OLD_PASS = "tt"  # of older files, on boards up to 19

Node = list[tuple[str, list[str]]]


def format_sgf(record: GameRecord) -> str:
    """Return the game as an SGF file, one move a line."""
    size = f"{record.width}:{record.height}" if record.width != record.height else record.width
    root = ["GM[4]", "FF[4]", "CA[UTF-8]", "AP[Numoku]", f"SZ[{size}]"]
    if record.rule is not None:
        root.append(f"RU[{record.rule.name.lower()}]")
    properties = [
        ("PB", record.black),
        ("PW", record.white),
        ("DT", record.date),
        ("RE", _RESULTS.get(record.result, record.result)),
        ("C", record.comment),
    ]
    root += [f"{name}[{escape(value)}]" for name, value in properties if value]
    for name, cells in (("AB", record.black_setup), ("AW", record.white_setup)):
        if cells:
            root.append(name + "".join(f"[{format_point(cell)}]" for cell in cells))
    if record.first == Side.WHITE:
        root.append("PL[W]")
    lines = ["(;" + "".join(root)]
    side = record.first
    for number in range(len(record.moves) + 1):
        for _ in range(record.passes.count(number)):
            lines.append(f";{'BW'[side]}[]")
            side = side.opponent
        if number < len(record.moves):
            move = record.moves[number]
            comment = f"C[{escape(move.comment)}]" if move.comment else ""
            lines.append(f";{'BW'[side]}[{format_point((move.x, move.y))}]{comment}")
            side = side.opponent
    return "\n".join(lines) + ")\n"


def parse_sgf(text: str) -> GameRecord:
    """Return the main line of an SGF file.

    Raises:
        NotationError: this is no SGF file of a game of five in a row.
    """
    return record_of(_main_line(text))


def record_of(nodes: list[Node]) -> GameRecord:
    """Return the game that a line of nodes tells.

    Raises:
        NotationError: this is no game of five in a row, or its moves are not possible.
    """
    root = dict(nodes[0])
    width, height = _parse_size(_first(root, "SZ"))
    if _first(root, "GM") not in ("", "4"):
        raise NotationError(f"GM[{_first(root, 'GM')}] is another game; five in a row is GM[4]")
    moves: list[RecordedMove] = []
    passes: list[int] = []
    stones: dict[str, list[Coordinates]] = {"AB": [], "AW": []}
    first = Side.BLACK
    for node in nodes:
        made = len(moves) + len(passes)
        first = _side_to_move(node, first, made)
        _set_up(stones, node, made)
        comment = next((values[0] for name, values in node if name == "C"), "")
        for name, values in node:
            if name not in _COLOURS:
                continue
            if not moves and not passes:
                first = _COLOURS[name]
            if (first + len(moves) + len(passes)) % 2 != _COLOURS[name]:
                raise NotationError(f"move {len(moves) + 1}: {_COLOURS[name].name} moves twice")
            if is_pass(values[0], width, height):
                passes.append(len(moves))
                continue
            x, y = parse_point(values[0])
            moves.append(RecordedMove(x, y, comment="" if node is nodes[0] else comment))
    return GameRecord(
        width,
        height,
        _parse_rule(_first(root, "RU")),
        tuple(moves),
        first,
        tuple(stones["AB"]),
        tuple(stones["AW"]),
        _first(root, "PB"),
        _first(root, "PW"),
        _parse_result(_first(root, "RE")),
        _first(root, "DT"),
        _first(root, "C"),
        tuple(passes),
    ).check()


def _side_to_move(node: Node, first: Side, made: int) -> Side:
    """Return who plays the first move, after what a node says of the side to move.

    Raises:
        NotationError: it says so after that move, and it is the other's turn.
    """
    told = [values[0] for name, values in node if name == "PL"]
    if not told:
        return first
    side = Side.WHITE if told[0].strip().upper().startswith("W") else Side.BLACK
    if not made:
        return side
    due = Side((first + made) % 2)
    if side is not due and not any(name in _COLOURS for name, _ in node):
        names = due.name.lower(), side.name.lower()
        raise NotationError(f"move {made + 1}: it is {names[0]}'s turn, not {names[1]}'s")
    return first


def _set_up(stones: dict[str, list[Coordinates]], node: Node, made: int) -> None:
    """Put the stones there that a node sets up, and take those away that it clears.

    Raises:
        NotationError: a move has been made before.
    """
    for name, values in node:
        if name not in SETUP:
            continue
        if made:
            raise NotationError(
                f"stones are set up after move {made}; that is read before the first move only"
            )
        cells = [parse_point(value) for value in values]
        if name in stones:
            stones[name] += cells
        else:
            for colour, held in stones.items():
                stones[colour] = [cell for cell in held if cell not in cells]


def is_pass(text: str, width: int, height: int) -> bool:
    """Say whether the value of a move on such a board is a pass."""
    word = text.strip().lower()
    return not word or (word == _OLD_PASS and max(width, height) <= 19)


def escape(text: str) -> str:
    """Return a text as the value of a property has it."""
    return text.replace("\\", "\\\\").replace("]", "\\]")


def format_point(cell: Coordinates) -> str:
    """Return a cell as two letters."""
    return column_letter(cell[0]) + column_letter(cell[1])


def parse_point(text: str) -> Coordinates:
    """Return the cell that two letters name; NotationError if they name none."""
    word = text.strip().lower()
    if len(word) != 2 or not (word.isascii() and word.isalpha()):
        raise NotationError(f"{text!r} is no SGF cell; cells are two letters such as hh")
    return ord(word[0]) - ord("a"), ord(word[1]) - ord("a")


def _parse_size(text: str) -> tuple[int, int]:
    words = text.split(":") if text else ["15"]
    try:
        numbers = [int(word) for word in words]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise NotationError(f"SZ[{text}] is no board size")
    return numbers[0], numbers[-1]


def _parse_rule(text: str) -> Rule | None:
    try:
        return Rule.parse(text)
    except ValueError:
        return None  # rule names differ between programs; the reader decides


def _parse_result(text: str) -> str:
    word = text.strip().upper()
    if word.startswith("B+"):
        return "1-0"
    if word.startswith("W+"):
        return "0-1"
    return "1/2-1/2" if word in ("0", "DRAW") else ""


def _first(properties: dict[str, list[str]], name: str) -> str:
    return properties.get(name, [""])[0]


def _main_line(text: str) -> list[Node]:
    """Return the nodes of the first game, following the first variation everywhere.

    The line ends with the first ``)``: what follows are siblings of what was read.
    """
    start = text.find("(")
    if start < 0:
        raise NotationError("an SGF file begins with '(;'")
    nodes: list[Node] = []
    at = start + 1
    while at < len(text):
        sign = text[at]
        if sign == ")":
            break
        if sign == ";":
            nodes.append([])
        elif sign.isalpha():
            if not nodes:
                break
            at = read_property(text, at, nodes[-1])
            continue
        elif sign != "(" and not sign.isspace():
            raise NotationError(f"{sign!r} has no place in an SGF file there (character {at + 1})")
        at += 1
    if not nodes:
        raise NotationError("an SGF file begins with '(;'")
    return nodes


def read_property(text: str, start: int, node: Node) -> int:
    """Append the property that starts here to the node; return where it ends."""
    at = start
    while at < len(text) and text[at].isalpha():
        at += 1
    name = "".join(letter for letter in text[start:at] if letter.isupper())
    values: list[str] = []
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at >= len(text) or text[at] != "[":
            break
        value, at = _read_value(text, at + 1)
        values.append(value)
    if not values:
        raise NotationError(f"the SGF property {text[start:at].strip()!r} has no value")
    node.append((name, values))
    return at


def _read_value(text: str, start: int) -> tuple[str, int]:
    """Return an unescaped value and where the text goes on after its bracket."""
    signs: list[str] = []
    at = start
    while at < len(text) and text[at] != "]":
        if text[at] == "\\":
            at += 1
            if at < len(text) and text[at] == "\n":  # an escaped line end is no line end
                at += 1
                continue
        if at < len(text):
            signs.append(text[at])
            at += 1
    if at >= len(text):
        raise NotationError("an SGF value is not closed with ']'")
    return "".join(signs), at + 1
