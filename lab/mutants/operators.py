"""All mutants of a source: small changes that a careless edit might make, placed by position.

Nothing but the text that changes is touched, so that lines keep their numbers. What a user reads
(strings, f-strings), annotations, decorators and asserts are left alone, and so are hints to the
processor and the numbers that a module gives names to: which is right is no question of logic.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
PACKAGE = "pbrain_engine"
KERNEL_MARKS = ("kernel", "recursive_kernel", "export")

Turned = dict[type[ast.AST], tuple[str, ...]]
COMPARISONS: Turned = {
    ast.Lt: ("<=", ">="), ast.LtE: ("<", ">"), ast.Gt: (">=", "<="), ast.GtE: (">", "<"),
    ast.Eq: ("!=",), ast.NotEq: ("==",), ast.In: ("not in",), ast.NotIn: ("in",),
    ast.Is: ("is not",), ast.IsNot: ("is",),
}  # fmt: skip
SIGNS = {ast.Add: "-", ast.Sub: "+", ast.LShift: ">>", ast.RShift: "<<", ast.BitAnd: "|",
         ast.BitOr: "&", ast.Mult: "//", ast.FloorDiv: "*"}  # fmt: skip
# What loads memory early: without it a search is slower, and the same.
HINTS = ("prefetch", "expect", "expect_behind")
# Sums and products of rows of numbers: the argument from which on their order is no matter.
COMMUTES = {"add": 0, "multiply": 0, "add_product": 1}
# A value of kernels that is just so is a win in MAX_PLY plies, and no board has room for that: with
# or without it a comparison is the same.
UNREACHED = {"WIN_BAND", "-WIN_BAND"}
COUNTERPARTS = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """A change of the text of a file, from one offset to another."""

    file: str  # below the package
    kind: str
    first: int  # line
    last: int
    start: int  # offsets into the text, which is encoded as UTF-8
    end: int
    new: str
    function: str  # that it is in; empty for what runs at import
    kernel: bool  # whether that is compiled

    @property
    def source(self) -> str:
        """Return the path below the root of the repository."""
        return f"{PACKAGE}/{self.file}"

    def changed(self, text: bytes) -> bytes:
        """Return the text of the file with the change."""
        return text[: self.start] + self.new.encode() + text[self.end :]

    def difference(self) -> tuple[str, str]:
        """Return the lines that change, before and after."""
        text = (ROOT / self.source).read_bytes()
        begin = text.rfind(b"\n", 0, self.start) + 1
        stop = text.find(b"\n", self.end)
        old = text[begin:stop].decode()
        return old, self.changed(text)[begin : stop + len(self.new.encode()) - self.end
                                       + self.start].decode()  # fmt: skip


class Scanner:
    """Finds the mutants of one file."""

    def __init__(self, file: str) -> None:
        """Read a file below the package."""
        self.file = file
        self.text = (ROOT / PACKAGE / file).read_bytes()
        self.lines = [0]
        for line in self.text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.tree = ast.parse(self.text)
        nodes = list(ast.walk(self.tree))
        self.names = {node.id for node in nodes if isinstance(node, ast.Name)}
        self.records = {
            node.value.id
            for node in nodes
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        }
        self.function = ""
        self.kernel = False

    def offset(self, line: int, column: int) -> int:
        """Return the place of a line and column in the bytes of the file."""
        return self.lines[line - 1] + column

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return where a node begins and ends in the bytes of the file."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (self.offset(node.lineno, node.col_offset),
                self.offset(node.end_lineno, node.end_col_offset))  # fmt: skip

    def of(self, node: ast.expr | ast.stmt) -> str:
        """Return the source of a node."""
        start, end = self.span(node)
        return self.text[start:end].decode()

    def put(self, node: ast.expr | ast.stmt, kind: str, new: str) -> Mutant:
        """Return the mutant that has ``new`` in the place of a node."""
        start, end = self.span(node)
        assert node.end_lineno is not None
        return self.make(kind, node.lineno, node.end_lineno, start, end, new)

    def between(self, before: ast.expr, after: ast.expr, kind: str, new: str) -> Mutant:
        """Return the mutant with another operator between two operands."""
        start, end = self.span(before)[1], self.span(after)[0]
        gap = self.text[start:end].decode()
        left = gap[: len(gap) - len(gap.lstrip(" )\n"))]
        right = gap[len(gap.rstrip(" (\n")) :]
        assert before.end_lineno is not None
        return self.make(kind, before.end_lineno, after.lineno, start, end, left + new + right)

    def make(self, kind: str, first: int, last: int, start: int, end: int, new: str) -> Mutant:
        """Return the mutant that has new text between two places."""
        return Mutant(self.file, kind, first, last, start, end, new, self.function, self.kernel)

    # -- the walk --------------------------------------------------------------------------

    def mutants(self) -> Iterator[Mutant]:
        """Yield all mutants of the file."""
        yield from self.statements(self.tree.body, inside=False)

    def statements(self, body: list[ast.stmt], inside: bool) -> Iterator[Mutant]:
        """Yield the mutants of a block; ``inside``: of a function."""
        for statement in body:
            yield from self.statement(statement, inside)

    def statement(self, node: ast.stmt, inside: bool) -> Iterator[Mutant]:
        """Yield the mutants of a statement and of what it holds."""
        match node:
            case ast.FunctionDef(name) | ast.Expr(ast.Call(ast.Name(name))) if (
                name.lstrip("_") in HINTS
            ):
                return
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
                    yield from self.expression(default)
                before = self.function, self.kernel
                self.function = before[0] or node.name
                self.kernel = before[1] or is_kernel(node)
                yield from self.statements(node.body, inside=True)
                self.function, self.kernel = before
                return
            case ast.ClassDef():
                yield from self.statements(node.body, inside=False)
                return
            case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Global() | ast.Nonlocal():
                return
            case ast.Expr(ast.Constant()):
                return
            case ast.If() if "TYPE_CHECKING" in self.of(node.test) or "__name__" in self.of(
                node.test
            ):
                return
        if inside:
            yield from self.dropped(node)
        if isinstance(node, ast.Match):
            yield from self.expression(node.subject)
            for case in node.cases:
                if case.guard is not None:
                    yield from self.expression(case.guard)
                yield from self.statements(case.body, inside)
            return
        for name, field in ast.iter_fields(node):
            if name in ("annotation", "targets", "target", "type_comment", "exc", "cause"):
                continue
            if isinstance(field, ast.expr):
                if inside or not isinstance(field, ast.Constant | ast.UnaryOp):
                    yield from self.expression(field)
            elif isinstance(field, list):
                for item in field:
                    if isinstance(item, ast.stmt):
                        yield from self.statement(item, inside)
                    elif isinstance(item, ast.ExceptHandler):
                        yield from self.statements(item.body, inside)
                    elif isinstance(item, ast.withitem):
                        yield from self.expression(item.context_expr)

    def dropped(self, node: ast.stmt) -> Iterator[Mutant]:
        """Yield a statement left out, or a branch."""
        match node:
            case ast.Expr(ast.Call() | ast.Await()) | ast.AugAssign() | ast.Raise():
                yield self.put(node, "statement", "pass")
            case ast.Continue() | ast.Break():
                yield self.put(node, "statement", "pass")
            case ast.Assign() if all(
                isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets
            ):
                yield self.put(node, "statement", "pass")
            case ast.If():
                yield self.put(node.test, "branch", "False")
                if node.orelse:
                    yield self.put(node.test, "branch", "True")
        if isinstance(node, ast.AugAssign) and type(node.op) in SIGNS:
            target = self.span(node.target)[1]
            value = self.span(node.value)[0]
            sign = f" {SIGNS[type(node.op)]}= "
            yield self.make("sign", node.lineno, node.lineno, target, value, sign)

    def expression(self, node: ast.expr) -> Iterator[Mutant]:
        """Yield the mutants of an expression and of what it holds."""
        match node:
            case ast.JoinedStr() | ast.Constant(str()):
                return
            case ast.Compare():
                sides = [node.left, *node.comparators]
                for i, op in enumerate(node.ops):
                    news = COMPARISONS[type(op)]
                    if self.kernel and UNREACHED & {self.of(sides[i]), self.of(sides[i + 1])}:
                        news = news[1:]
                    for new in news:
                        yield self.between(sides[i], sides[i + 1], "comparison", new)
                for side in sides:
                    yield from self.moved(side)
            case ast.BoolOp():
                new = "or" if isinstance(node.op, ast.And) else "and"
                for left, right in zip(node.values, node.values[1:], strict=False):
                    yield self.between(left, right, "and/or", new)
            case ast.UnaryOp(ast.Not()):
                yield self.put(node, "not", f"({self.of(node.operand)})")
            case ast.UnaryOp(ast.USub()):
                yield self.put(node, "sign", self.of(node.operand))
                if isinstance(node.operand, ast.Constant):
                    return
            case ast.BinOp():
                is_text = any(
                    isinstance(part, ast.JoinedStr)
                    or (isinstance(part, ast.Constant) and isinstance(part.value, str | bytes))
                    for part in ast.walk(node)
                )
                if type(node.op) in SIGNS and not is_text:
                    yield self.between(node.left, node.right, "sign", SIGNS[type(node.op)])
                    for side in (node.left, node.right):
                        yield from self.moved(side)
            case ast.IfExp():
                yield self.put(node, "branch", f"({self.of(node.body)})")
                yield self.put(node, "branch", f"({self.of(node.orelse)})")
            case ast.Constant(True) | ast.Constant(False):
                yield self.put(node, "constant", str(not node.value))
            case ast.Attribute(ast.Name(owner), attribute) if attribute.isupper():
                for other in neighbours(enums().get(owner, ()), attribute):
                    yield self.put(node, "constant", f"{owner}.{other}")
            case ast.Name(name) if name.isupper():
                for other in neighbours(rows().get(name, ()), name):
                    if other in self.names:
                        yield self.put(node, "constant", other)
            case ast.Subscript():
                if isinstance(node.slice, ast.Slice):
                    for bound in filter(None, (node.slice.lower, node.slice.upper)):
                        yield from self.moved(bound)
                else:
                    yield from self.moved(node.slice)
            case ast.Call():
                yield from self.call(node)
        for child in ast.iter_child_nodes(node):
            yield from self.below(child)

    def below(self, node: ast.AST) -> Iterator[Mutant]:
        """Yield what changes in a part of an expression."""
        if isinstance(node, ast.expr):
            yield from self.expression(node)
        elif isinstance(node, ast.keyword | ast.comprehension | ast.arguments):
            for child in ast.iter_child_nodes(node):
                yield from self.below(child)

    def call(self, node: ast.Call) -> Iterator[Mutant]:
        """Yield the mutants of a call: of its function and the order of its arguments."""
        function = node.func
        if isinstance(function, ast.Name) and function.id in COUNTERPARTS:
            yield self.put(function, "min/max", COUNTERPARTS[function.id])
        if isinstance(function, ast.Name) and function.id in ("range", "islice"):
            for argument in node.args:
                yield from self.moved(argument)
        if isinstance(function, ast.Name) and function.id in (
            "isinstance", "min", "max", "carray", "getattr", "setattr", "hasattr", "cast",
        ):  # fmt: skip
            return
        same = COMMUTES.get(self.of(function)) if "LANES" in self.names else None
        for number, (left, right) in enumerate(zip(node.args, node.args[1:], strict=False)):
            if number == same:
                continue
            if isinstance(left, ast.Starred) or isinstance(right, ast.Starred):
                continue
            if self.kernel and self.records & {self.of(left), self.of(right)}:
                continue  # a record in the place of something else does not compile
            if self.of(left) != self.of(right):
                start, end = self.span(left)[0], self.span(right)[1]
                gap = self.text[self.span(left)[1] : self.span(right)[0]].decode()
                assert right.end_lineno is not None
                swapped = self.of(right) + gap + self.of(left)
                yield self.make("arguments", left.lineno, right.end_lineno, start, end, swapped)

    def moved(self, node: ast.expr) -> Iterator[Mutant]:
        """Yield a bound moved by one."""
        if isinstance(node, ast.Constant) and type(node.value) is int:
            yield self.put(node, "bound", str(node.value + 1))
            if node.value > 0:
                yield self.put(node, "bound", str(node.value - 1))


def is_kernel(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function is compiled."""
    for mark in node.decorator_list:
        name = mark.func if isinstance(mark, ast.Call) else mark
        if isinstance(name, ast.Name) and name.id in KERNEL_MARKS:
            return True
    return False


def neighbours(members: tuple[str, ...], name: str) -> Iterator[str]:
    """Yield the member after this one, if there is another."""
    if name in members and len(members) > 1:
        yield members[(members.index(name) + 1) % len(members)]


@cache
def mutants_of(file: str) -> tuple[Mutant, ...]:
    """Return all mutants of a file below the package."""
    return tuple(Scanner(file).mutants())


@cache
def sources() -> tuple[str, ...]:
    """Return all modules below the package."""
    found = (ROOT / PACKAGE).rglob("*.py")
    return tuple(sorted(path.relative_to(ROOT / PACKAGE).as_posix() for path in found))


@cache
def _definitions() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Return the members of each enumeration, and the other constants of each."""
    members: dict[str, tuple[str, ...]] = {}
    groups: dict[str, tuple[str, ...]] = {}
    for file in sources():
        tree = ast.parse((ROOT / PACKAGE / file).read_bytes())
        group: list[str] = []
        line = 0
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and any(
                "Enum" in ast.unparse(base) or "Flag" in ast.unparse(base) for base in node.bases
            ):
                members[node.name] = tuple(
                    target.id
                    for entry in node.body
                    if isinstance(entry, ast.Assign)
                    for target in entry.targets
                    if isinstance(target, ast.Name) and target.id.isupper()
                )
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target = node.targets[0]
                parts = target.elts if isinstance(target, ast.Tuple) else [target]
                names = [part.id for part in parts if isinstance(part, ast.Name)]
                if all(name.isupper() for name in names):
                    if node.lineno != line + 1:
                        group = []
                    group += names
                    line = node.end_lineno or node.lineno
                    for name in group:
                        groups[name] = tuple(group)
    return members, groups


def enums() -> dict[str, tuple[str, ...]]:
    """Return the members of each enumeration by its name."""
    return _definitions()[0]


def rows() -> dict[str, tuple[str, ...]]:
    """Return for each constant of a module those that are defined with it."""
    return _definitions()[1]
