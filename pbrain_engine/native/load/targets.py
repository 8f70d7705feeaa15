"""What a kernel can be built for: platforms, and the levels of the x86-64 instruction set."""

from __future__ import annotations

import os
import sys

X86_LEVELS = ("v2", "v3", "v4")  # x86-64-v2 .. v4, each contains the one before
ARM_LEVELS = ("v8",)


class Target:
    """A platform: its name here, for LLVM and for the linker, and its library files.

    A plain class: the engine imports this at its start, and ``typing`` takes 6 ms.
    """

    __slots__ = ("name", "triple", "zig", "suffix")

    def __init__(self, name: str, triple: str, zig: str, suffix: str) -> None:
        """Name a platform for people, for code generation and for linking."""
        self.name = name
        self.triple = triple
        self.zig = zig  # with the oldest glibc that the library may ask for
        self.suffix = suffix

    @property
    def levels(self) -> tuple[str, ...]:
        """The instruction set levels of this platform, lowest first."""
        return X86_LEVELS if self.triple.startswith("x86_64") else ARM_LEVELS

    def cpu(self, level: str) -> str:
        """Return LLVM's name of the processor that a level stands for."""
        if level not in self.levels:
            raise ValueError(f"{self.name} has no level {level}, only {', '.join(self.levels)}")
        if level != "v8":
            return f"x86-64-{level}"
        return "apple-m1" if self.name.startswith("macos") else "generic"

    def file_name(self, level: str, variant: str = "") -> str:
        """Return the name of the library file; a variant is a build with extra checks."""
        parts = ["numoku", self.name, level, variant]
        return "-".join(part for part in parts if part) + self.suffix


TARGETS = {
    target.name: target
    for target in (
        Target("linux-x86_64", "x86_64-unknown-linux-gnu", "x86_64-linux-gnu.2.17", ".so"),
        Target("linux-aarch64", "aarch64-unknown-linux-gnu", "aarch64-linux-gnu.2.17", ".so"),
        Target("windows-x86_64", "x86_64-pc-windows-gnu", "x86_64-windows-gnu", ".dll"),
        Target("macos-x86_64", "x86_64-apple-macosx11.0.0", "x86_64-macos.11.0", ".dylib"),
        Target("macos-arm64", "arm64-apple-macosx11.0.0", "aarch64-macos.11.0", ".dylib"),
    )
}


def machine() -> str:
    """Return the kind of processor that this process is made for.

    Windows names it in a variable of the environment, but a manager may start programs without
    one. There the interpreter tells, whose version ends with, say, ``64 bit (AMD64)]``.
    """
    if sys.platform == "win32":
        name = sys.version.rpartition("(")[2].rstrip(")]").lower()
    else:
        name = os.uname().machine.lower()
    return "x86_64" if name == "amd64" else name


def host_target() -> Target | None:
    """Return the platform of this process, or None where no kernel can be built for it."""
    if sys.maxsize < 2**32:
        return None
    systems = {"linux": "linux", "darwin": "macos", "win32": "windows"}
    system = systems.get(sys.platform, sys.platform)
    return TARGETS.get(f"{system}-{machine()}")
