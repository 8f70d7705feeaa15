"""Import from the file that `bundle.py` wrote: the first code of ours that a frozen program runs.

It imports only modules that the interpreter has already loaded, so not even `__future__`.
"""

import marshal
import os
import sys
from _frozen_importlib import ModuleSpec

TYPE_CHECKING = False  # `typing` itself is in the bundle
if TYPE_CHECKING:
    from types import ModuleType

FILE = "start.modules"


class Bundle:
    """Finds and loads the modules of a file in the folder of the program's libraries."""

    def __init__(self, folder: str) -> None:
        """Read the file."""
        self.folder = folder
        with open(os.path.join(folder, FILE), "rb") as file:
            self.modules: dict[str, tuple[bool, bytes]] = marshal.load(file)

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the spec of a bundled module, else None; PyInstaller finds the others."""
        found = self.modules.get(name)
        if found is None:
            return None
        is_package, _ = found
        place = os.path.join(self.folder, *name.split("."))
        origin = os.path.join(place, "__init__.pyc") if is_package else place + ".pyc"
        spec = ModuleSpec(name, self, origin=origin, is_package=is_package)  # type: ignore[arg-type]
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [place]
        return spec

    def create_module(self, spec: ModuleSpec) -> "ModuleType | None":
        """Let Python create an ordinary module."""
        return None

    def exec_module(self, module: "ModuleType") -> None:
        """Run the code of a module."""
        _, data = self.modules[module.__name__]
        exec(marshal.loads(data), module.__dict__)


sys.meta_path.insert(0, Bundle(getattr(sys, "_MEIPASS")))  # noqa: B009
