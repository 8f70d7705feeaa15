"""Files and texts of others, and files that are replaced as a whole or not at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pbrain_engine.files import in_place_of, read_object, shown, state_folder, write_whole


def test_what_others_say_is_shown_safely():
    assert shown("\x1b[31mred") == "\\x1b[31mred"
    assert shown("x" * 60) == "x" * 60 and shown("x" * 61) == "x" * 57 + "..."


def test_a_number_without_end_is_no_json_and_nothing_is_advised():
    with pytest.raises(ValueError, match=r"^this is not JSON: [^;]* 5000 digits$"):
        read_object('{"id": ' + "9" * 5000 + "}")


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "game.sgf"
    path.write_text("old")

    def is_full(self: Path, text: str, **_: object) -> None:
        self.write_bytes(text.encode()[:2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", is_full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "newer")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no pipe has a name there")
def test_a_pipe_is_written_to_itself():
    reading, writing = os.pipe()
    with in_place_of(Path(f"/dev/fd/{writing}")) as path:
        path.write_text("here")
    assert os.read(reading, 10) == b"here"
    os.close(reading)
    os.close(writing)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes")
def test_a_file_that_is_replaced_is_open_to_the_same_people(tmp_path):
    path = tmp_path / "secret"
    path.touch(0o600)
    write_whole(path, "new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o600)


@pytest.mark.parametrize("folder", ["no folder", "a.txt"])
def test_an_error_names_the_file_that_was_asked_for(folder, tmp_path):
    (tmp_path / "a.txt").touch()
    path = tmp_path / folder / "game.sgf"
    with pytest.raises(OSError) as told:
        write_whole(path, "new")
    assert told.value.filename == str(path)


@pytest.mark.parametrize("name", ["a.txt", "none.txt", "/dev/full"])
def test_a_full_disk_names_the_file_that_was_asked_for(name, tmp_path):
    (tmp_path / "a.txt").touch()
    path = tmp_path / name
    with pytest.raises(OSError) as told, in_place_of(path):
        raise OSError(28, "No space left on device")
    assert told.value.filename == str(path)


@pytest.mark.skipif(os.name == "nt", reason="the folder lies elsewhere there")
def test_a_user_without_a_home_has_a_folder_that_cannot_be_written(monkeypatch):
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 54321)  # in no list of users
    assert state_folder() == Path("/.local/state/numoku")
