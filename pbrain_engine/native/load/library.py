"""The compiled kernel as an object: choose the level for this processor, load it, call it.

``load()`` never compiles and imports only the standard library. If the kernel is missing or was
compiled from other sources, it raises a ``KernelError`` that names the cure.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from operator import index

from ...errors import NumokuError
from .store import (
    SHIPPED_FOLDER,
    TARGETS,
    host_target,
    is_checkout,
    is_shipped,
    kernel_folder,
    x86_level,
)

CURE = "run `make setup`"
INSTALLED_CURE = "pip install 'pbrain-numoku[build]', then `numoku build`"
AGAIN = "install Numoku again"
ELF_HEAD, SECTION_TABLE = 64, ((40, 48), (58, 60), (60, 62))  # bytes; its offset, entry size, count
# Addresses have 32 bits in WebAssembly.
KINDS: dict[str, type[ctypes.c_void_p | ctypes.c_int64]] = {
    "p": ctypes.c_void_p,
    "i": ctypes.c_int64,
}
UNLIMITED_NODES = 1 << 62
_EXCEPTION_RAISED = 1  # numba's status of a kernel that raised


class KernelError(NumokuError):
    """There is no usable kernel, or a kernel function failed; the message says what to do."""


def _error(trouble: str, shipped: str = "") -> KernelError:
    """Return an error with its cure; ``shipped``: the cure if local builds would not be used."""
    cure = CURE if is_checkout() else INSTALLED_CURE
    words = (trouble, shipped if is_shipped() else cure)
    return KernelError("; ".join(filter(None, words)))


def _is_cut_off(path: str) -> bool:
    """Return whether a Linux library is truncated, which would crash the system's loader.

    The section table comes last in the file. Other systems check for themselves.
    """
    with open(path, "rb") as file:
        head = file.read(ELF_HEAD)
        if len(head) < ELF_HEAD or not head.startswith(b"\x7fELF"):
            return False
        table, size, count = (int.from_bytes(head[a:b], "little") for a, b in SECTION_TABLE)
        return os.fstat(file.fileno()).st_size < table + size * count


class Library:
    """A loaded kernel: its exported functions, called by name with addresses and integers."""

    def __init__(self, path: str) -> None:
        """Load a library file; KernelError if it cannot be loaded or is not a kernel."""
        self.path = path
        try:
            if _is_cut_off(path):
                raise OSError("its end is missing")
            self._dll = ctypes.CDLL(path)
            self._dll.numoku_about.restype = ctypes.c_char_p
            text = self._dll.numoku_about().decode()
        except (OSError, AttributeError) as error:
            trouble = f"{path} is not a kernel for this machine ({error})"
            raise _error(trouble, shipped=AGAIN) from error
        self.about: dict[str, str] = dict(line.split("=") for line in text.splitlines())
        self.level = self.about["level"]
        self.digest = self.about["digest"]
        # Each exported function and its parameters: p for an address, i for an integer.
        self.exports = dict(pair.split(":") for pair in self.about["exports"].split())
        # Sizes in bytes of the memory blocks that the caller allocates.
        sizes = (pair.split(":") for pair in self.about["sizes"].split())
        self.sizes = {name: int(size) for name, size in sizes}

    def __getattr__(self, name: str) -> Callable[..., int]:
        """Return a caller of an exported function, created at first use."""
        if name == "exports" or name not in self.exports:
            raise AttributeError(f"the kernel has no function {name!r}")
        # Numba's convention: ``int32 f(int64 *result, void **exception, args...)``.
        function, kinds = self._dll[name], self.exports[name]
        arity = len(kinds)
        function.restype = ctypes.c_int32
        function.argtypes = (ctypes.c_void_p, ctypes.c_void_p, *(KINDS[kind] for kind in kinds))
        frame = ctypes.c_int64 * 2  # a new one for each call: threads call concurrently
        byref = ctypes.byref

        def caller(*args: int) -> int:
            if len(args) != arity:  # ctypes would let C read garbage from the stack
                raise TypeError(f"{name} takes {arity} arguments, not {len(args)}")
            out = frame()
            status = function(byref(out), byref(out, 8), *args)
            if status:
                raise KernelError(_failure(name, status, out[1]))
            return out[0]

        setattr(self, name, caller)
        return caller

    def listen(self, listener: Callable[[], int]) -> None:
        """Call ``listener`` every few milliseconds of a search; if it returns 1, the search ends.

        WebAssembly only: elsewhere other threads stop a search.
        """
        self._listener = ctypes.CFUNCTYPE(ctypes.c_int32)(listener)  # kept alive
        self._dll.numoku_listen.restype = None
        self._dll.numoku_listen(self._listener)


def node_limit(nodes: int | None) -> int:
    """Return the kernel's node limit for a limit or None."""
    return UNLIMITED_NODES if nodes is None else max(0, min(index(nodes), UNLIMITED_NODES))


def _failure(name: str, status: int, exception: int) -> str:
    """Describe an exception raised by a kernel, which only happens in checked builds."""
    message = f"the kernel function {name} failed with status {status}"
    if status == _EXCEPTION_RAISED and exception:
        import pickle

        # Numba keeps a pickle of (class, arguments, place) in the library.
        data = ctypes.c_void_p.from_address(exception).value or 0
        length = ctypes.c_int32.from_address(exception + ctypes.sizeof(ctypes.c_void_p)).value
        kind, arguments, place = pickle.loads(ctypes.string_at(data, length))
        message += f": {kind.__name__}{arguments or ''}"
        if place is not None:
            function, file, line = place
            message += f" in {function}, line {line} of {file}"
    return message


def processor_level(library: Library) -> str | None:
    """Return the level that this processor reaches, found out through a kernel of any level."""
    levels = TARGETS[library.about["target"]].levels
    if len(levels) == 1:
        return levels[0]
    dll = library._dll
    registers = (ctypes.c_uint32 * 4)()

    def cpuid(leaf: int, subleaf: int) -> tuple[int, int, int, int]:
        dll.numoku_cpuid(ctypes.c_uint32(leaf), ctypes.c_uint32(subleaf), registers)
        return registers[0], registers[1], registers[2], registers[3]

    return x86_level(cpuid, dll.numoku_xgetbv)


_loaded: dict[tuple[str | None, str], Library] = {}
_lock = threading.Lock()


def load(level: str | None = None, variant: str | None = None) -> Library:
    """Return the best kernel for this processor, or the kernel of a given level.

    A variant is a build with checks (``asserts``, ``bounds`` or ``asserts-bounds``), by default
    from ``NUMOKU_VARIANT`` in the environment. ``NUMOKU_LEVEL`` there forces a level, even one that
    the processor does not report. KernelError if there is no suitable kernel, with the cure.
    """
    key = (level, os.environ.get("NUMOKU_VARIANT", "") if variant is None else variant)
    library = _loaded.get(key)
    if library is None:
        with _lock:
            library = _loaded.get(key) or _choose(*key)
            _loaded[key] = library
    return library


def _choose(level: str | None, variant: str) -> Library:
    target = host_target()
    if target is None:
        raise KernelError("no kernel exists for this kind of machine, only for 64-bit x86 and ARM")
    try:
        folder = kernel_folder()
    except OSError:  # a frozen build: not marked as shipped, without sources to compare
        folder = SHIPPED_FOLDER
    paths = {lvl: os.path.join(folder, target.file_name(lvl, variant)) for lvl in target.levels}
    present = {lvl: path for lvl, path in paths.items() if os.path.exists(path)}
    if not present:
        state = "none was shipped for this platform" if is_shipped() else "it was never built"
        raise _error(f"no kernel of the present sources ({state} or is stale)", shipped=AGAIN)
    forced = os.environ.get("NUMOKU_LEVEL") if level is None else None
    wanted = (forced or None) if level is None else level
    if wanted is not None and wanted not in present:
        raise _error(f"no kernel of level {wanted or repr('')}, only of {', '.join(present)}")
    if forced:
        return Library(present[forced])
    reached = processor_level(Library(next(iter(present.values()))))
    usable = target.levels[: target.levels.index(reached) + 1] if reached else ()
    fitting = [lvl for lvl in present if lvl in usable and level in (None, lvl)]
    if not fitting:
        wanted = level or ", ".join(present)
        raise _error(f"this processor does not support a kernel of level {wanted}")
    return Library(present[fitting[-1]])
