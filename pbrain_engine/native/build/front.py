"""Kernels to one LLVM module: numba's front end, on two cores.

Numba is used only up to its LLVM code. Its own optimiser and code generator would process every
function again for each of its callers; here every function is optimised once, in one module in
which all but the exports are internal. Nothing in that module depends on the platform.

Type inference goes from caller to callee and keeps one core busy. The LLVM code of a function can
be generated once its callees are typed, so this is deferred: forked processes do it for batches of
functions while inference goes on.

All of this is private API of numba, hence the pinned version and the canary test.
"""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import llvmlite.binding as llvm
from numba.core import ir, transforms, types
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.lowering import Lower
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction
from numba.np import arrayobj

from ... import kernel
from ...errors import BuildError

# Functions per forked process; elsewhere forking is unavailable or unsafe.
BATCH = 40 if sys.platform == "linux" else sys.maxsize


def _take_index(context: Any, builder: Any, kind: Any, value: Any, length: Any) -> Any:
    """Use an index unchanged, where numba would count a negative one from the end.

    Kernels have no negative index (a checked build would refuse it), and the test before every
    access cost 10 % of the nodes and 20 % of the pairs per second.
    """
    return context.cast(builder, value, kind, types.intp if kind.signed else types.uintp)


def _once(resolve: Any) -> Any:
    """Return a function that resolves a call of numba's own functions once for each signature.

    Every ``+`` would be tried against the templates of all types, which took a quarter of the time.
    """
    known = {}

    def resolve_once(function: Any, context: Any, args: Any, kws: Any) -> Any:
        key = function.typing_key, tuple(function.templates), args, tuple(sorted(kws.items()))
        if key not in known:
            found = resolve(function, context, args, kws)
            known[key] = found, function.get_impl_key(found)
        found, function._impl_keys[found.args] = known[key]
        return found

    return resolve_once


def _list_variables(_: Any, value: Any) -> list[Any]:
    """Return the variables in a value that belongs to an instruction.

    Numba's own function tests every name, place and number against five classes, which took a
    tenth of the time.
    """
    kind = type(value)
    if kind is ir.Var:
        return [value]
    if kind is dict:
        value = value.values()
    elif kind is not list and kind is not tuple:
        return value.list_vars() if isinstance(value, ir.Inst) else []
    parts = (part for part in value if type(part) not in _WITHOUT_VARIABLES)
    return [variable for part in parts for variable in _list_variables(_, part)]


_WITHOUT_VARIABLES = {ir.Loc, str, int, type(None)}


def _post_process(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Simplify the blocks of a function, as numba does after most passes.

    Left out is what only generators need: the variables that live at the start of each block.
    """
    function = processor.func_ir
    function.blocks = transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime = VariableLifetime(function.blocks)
    if emit_dels:
        processor._insert_var_dels(extend_lifetimes=extend_lifetimes)


# Replaced parts of numba, so that it stops at the LLVM code of a function, and sooner.
_REPLACED = (
    (JITCodeLibrary, "finalize", lambda library: None),
    (JITCodeLibrary, "_optimize_functions", lambda *_: None),
    (JITCodeLibrary, "get_pointer_to_function", lambda library, name: 0),
    (JITCPUCodegen, "set_env", lambda *_: None),
    (arrayobj, "fix_integer_index", _take_index),
    (types.Record, "__repr__", lambda record: record.name),  # for messages, without fields
    (PostProcessor, "run", _post_process),
    (ir.Inst, "_rec_list_vars", _list_variables),
    (BaseFunction, "get_call_type", _once(BaseFunction.get_call_type)),
)


class _Writer:
    """Writes the LLVM code of functions, in batches, while type inference continues."""

    def __init__(self) -> None:
        self._write_now = Lower.lower
        self._waiting: list[Any] = []  # numba's states of typed functions
        self._pipes: list[Connection] = []  # each will deliver the module of a batch

    def __enter__(self) -> _Writer:
        def put_off(lower: Any) -> None:
            if not lower.flags.no_cfunc_wrapper:  # one of numba's own functions
                self._write_now(lower)
                return
            lower.call_helper = None
            self._waiting.append(lower)
            if len(self._waiting) >= BATCH:
                self._fork()

        Lower.lower = put_off  # called by numba's pass
        return self

    def __exit__(self, *_: object) -> None:
        Lower.lower = self._write_now

    def _fork(self) -> None:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        self._pipes.append(ours)
        context = multiprocessing.get_context("fork")
        context.Process(target=self._send, args=(theirs,), daemon=True).start()
        theirs.close()
        self._waiting = []

    def _send(self, pipe: Connection) -> None:
        """In the forked process, write the code of the waiting functions; send it as a module."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
        for ours in self._pipes:
            ours.close()  # so that sending fails if the parent is dead
        own = {lower.fndesc.llvm_func_name for lower in self._waiting}
        module = llvm.parse_assembly("")
        _link(module, self._write())
        for value in [*module.functions, *module.global_variables]:
            if not value.is_declaration and value.name not in own:
                value.linkage = "internal"  # numba's, which other batches may also contain
        with suppress(BrokenPipeError):
            pipe.send_bytes(module.as_bitcode())

    def _write(self) -> list[Any]:
        """Write the code of the waiting functions in this process; return their libraries."""
        Lower.lower = self._write_now
        for lower in self._waiting:
            with ConfigStack().enter(lower.flags), lower.context.push_code_library(lower.library):
                lower.lower()
        return [lower.library for lower in self._waiting]

    def finish(self) -> list[Any]:
        """Write the last functions in this process; return the modules of the other batches.

        BuildError if a forked process failed; it has printed the reason.
        """
        self._write()
        try:
            return [llvm.parse_bitcode(pipe.recv_bytes()) for pipe in self._pipes]
        except EOFError:
            raise BuildError("numba wrote no LLVM code; the reason is above") from None


def parse_file(name: str) -> Any:
    """Parse a file of LLVM code in this folder."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return llvm.parse_assembly(file.read())


def compile_exports(name: str) -> tuple[list[tuple[str, Any]], Any]:
    """Import a module of exports and compile them with all they reach.

    Return each export's name and numba's compile result, and one LLVM module with the exports
    under their names. BuildError if C cannot call an export, or an export has no code.
    """
    importlib.import_module(name)
    for owner, method, ours in _REPLACED:
        if not hasattr(owner, method):
            raise BuildError(f"numba's {owner} has no {method}: another version?")
        setattr(owner, method, ours)
    gc.disable()  # saves a sixth of the time for half as much more memory
    with _Writer() as writer:
        results = list(_type_exports())
        batches = writer.finish()
    module = parse_file("runtime.ll")
    _link(module, [result.library for _, result in results])
    for batch in reversed(batches):  # callers before callees
        module.link_in(batch)
    _name_exports(module, results)
    return results, module


def _type_exports() -> Iterator[tuple[str, Any]]:
    dispatcher: Any
    function: Any
    for dispatcher, signature in kernel.SIGNED:
        dispatcher.compile(signature)
        dispatcher.disable_compile()  # a literal argument would add a specialisation
    for name, (function, arguments) in kernel.EXPORTS.items():
        is_kernel = function.__name__ != name  # also called by other kernels
        function.compile(arguments if is_kernel else types.int64(*arguments))
        result = function.overloads[arguments]
        kind = result.signature.return_type
        if is_kernel and kind not in (types.int64, types.boolean, types.none):
            raise BuildError(f"{name} returns {kind}")
        yield name, result


def _link(module: Any, roots: Sequence[Any]) -> None:
    """Link libraries and everything they reach into a module, each once."""
    waiting = list(roots)
    seen = set()
    while waiting:
        library = waiting.pop()
        if library in seen or library.name == "nrt":
            continue
        seen.add(library)
        module.link_in(library._final_module, preserve=True)
        waiting.extend(library._linking_libraries)


def _name_exports(module: Any, results: list[tuple[str, Any]]) -> None:
    """Name the exports, and make everything else internal.

    An exported kernel gets an entry that calls it, so that its own code can be changed like any
    other kernel's.
    """
    own = set()
    for name, result in results:
        function = module.get_function(result.fndesc.llvm_func_name)
        own.add(name)
        if result.fndesc.qualname == name:
            function.name = name
            continue
        kinds = [str(argument.type) for argument in function.arguments]
        values = ", ".join(f"{kind} %{i}" for i, kind in enumerate(kinds))
        module.link_in(
            llvm.parse_assembly(
                f'declare i32 @"{function.name}"({", ".join(kinds)})\n'
                f"define i32 @{name}({values}) {{\n"
                f'%status = call i32 @"{function.name}"({values})\nret i32 %status\n}}\n'
            )
        )
    for value in [*module.functions, *module.global_variables]:
        if not value.is_declaration:
            value.linkage = "external" if value.name in own else "internal"
    module.verify()
