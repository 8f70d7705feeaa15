"""What lies in the ZIP for tournaments, and what the build refuses."""

from __future__ import annotations

import hashlib
import marshal
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.errors import BuildError
from tests.build.building import bundle, package, shipping

pytestmark = pytest.mark.slow

NEEDLESS = {"argparse"}
ENTERED = package.program_of(package.WINDOWS)  # the program's name in the ZIP for tournaments
FORBIDDEN = ("numpy", "numba", "llvm", "ssl", "crypto", "tcl", "sqlite", "dist-info", "tests")


@pytest.fixture(scope="module")
def archive(tournament_zip: Path) -> Any:
    with zipfile.ZipFile(tournament_zip) as archive:
        yield archive


def test_one_program_with_its_texts_lies_at_the_root_and_is_no_larger_than_it_may(
    archive, tournament_zip
):
    assert tournament_zip.stat().st_size <= package.SIZE_LIMIT == 8_000_000
    executable = [e.filename for e in archive.infolist() if e.external_attr >> 16 & 0o111]
    assert executable == [package.PROGRAM]
    roots = {name.split("/")[0] for name in archive.namelist()}
    texts = {"README.txt", "LICENSE.txt", "THIRD-PARTY.txt"}
    assert roots == {package.PROGRAM, "_internal", *texts}
    page = archive.read("README.txt").decode("ascii")
    assert package.PROGRAM in page and "@" not in page
    assert "MIT License" in archive.read("LICENSE.txt").decode("ascii")
    notices = archive.read("THIRD-PARTY.txt").decode("ascii")
    for word in ("PYTHON SOFTWARE FOUNDATION LICENSE", "libffi", "zlib", "PyInstaller"):
        assert word in notices


def test_no_name_gives_a_judge_a_choice_or_troubles_a_manager(archive):
    """A judge takes the only ``.exe`` anywhere, and speaks the new protocol to a ``pbrain``."""
    names = [name.replace(package.PROGRAM, ENTERED) for name in archive.namelist()]
    programs = [name for name in names if name.lower().endswith((".exe", ".com", ".bat"))]
    assert programs == [ENTERED] and ENTERED.startswith("pbrain") and "_" not in ENTERED
    assert len({name.lower().rstrip(". ") for name in names}) == len(names)  # as Windows has them
    for name in names:
        assert not name.startswith("/") and ".." not in name
        assert name.isascii() and not set(name) & set(" '\"\\;&:"), name
        assert not any(word in name.lower() for word in FORBIDDEN), name


def test_what_every_start_imports_lies_in_one_file(archive):
    names = list(marshal.loads(archive.read(f"_internal/{bundle.FILE}")))
    assert names == bundle.names(str(shipping.ROOT))
    assert "pbrain_engine.engine.engine" in names
    assert not set(names) & NEEDLESS


def test_the_checksum_beside_it_is_its_own(tournament_zip):
    text = tournament_zip.with_name(tournament_zip.name + ".sha256").read_text(encoding="utf-8")
    digest, name = text.split()
    assert name == tournament_zip.name
    assert digest == hashlib.sha256(tournament_zip.read_bytes()).hexdigest()


def test_a_package_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "large.zip"
    path.write_bytes(bytes(1001))
    package.check_size(path, 1001)
    with pytest.raises(BuildError, match="large.zip has 1,001 bytes; 1,000 are allowed"):
        package.check_size(path, 1000)


@pytest.mark.parametrize("name", ["my file", "caf\u00e9", "it's"])
def test_a_name_that_troubles_a_manager_is_refused(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(BuildError, match="may confuse"):
        list(package.members(tmp_path))
