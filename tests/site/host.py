"""A static host for the site, with the pages of the site in a folder below it."""

from __future__ import annotations

import functools
import http.server
import inspect
import os
import re
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pbrain_engine.files import hold_lock
from tests.build.building import pyodide, website

# A server of its own, or the token that lets a page in.
NEEDS_SERVER = re.compile(r"BoardServer\(|token=")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing; counts what it sends."""

    sent = 0

    def log_message(self, *_: object) -> None:
        pass

    def copyfile(self, source: Any, outputfile: Any) -> None:
        data = source.read()
        type(self).sent += len(data)
        outputfile.write(data)


class Site:
    """A host that serves the site that ``NUMOKU_SITE`` names from a folder.

    What is not there yet is made, once for all processes of a run of the suite.
    """

    def __init__(self, folder: Path) -> None:
        place = Path(os.environ.get("NUMOKU_SITE", folder / "new")).resolve()
        with hold_lock(f"{place}.lock", lambda: None):
            if not place.exists():
                try:
                    website.make_site(place)
                except pyodide.Unavailable as reason:
                    pytest.skip(str(reason))
        (folder / "below").symlink_to(place)
        handler = functools.partial(Quiet, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.port = self._server.server_port
        self.base = f"http://127.0.0.1:{self.port}/below"
        self.address = f"{self.base}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def without_server(*modules: ModuleType) -> dict[str, object]:
    """Return the tests of modules that need no server but the one that serves the page."""
    return {
        f"{name}_of_{module.__name__.rpartition('.')[2]}": test
        for module in modules
        for name, test in vars(module).items()
        if name.startswith("test_") and not NEEDS_SERVER.search(inspect.getsource(test))
    }
