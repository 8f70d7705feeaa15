"""Help, and programs with arguments as one text: the same way on every system."""

import ctypes
import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pbrain_engine.cli import main
from pbrain_engine.options import join_command, split_command


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("analyse", "Ctrl-C shows the results so far."),
        ("db x export", "Write a RenLib library, an SGF file,"),
        ("solve", "--json one JSON object per"),
    ],
)
def test_help_says_what_is_written_and_spells_names_right(words, said, capsys):
    with pytest.raises(SystemExit):
        main([*words.split(), "--help"])
    assert said in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("windows", [False, True])
@given(st.lists(st.text(st.characters(codec="ascii", exclude_characters="\0")), min_size=1))
def test_what_is_joined_is_split_again(windows, words):
    assert split_command(join_command(words, windows=windows), windows=windows) == words


@pytest.mark.skipif(sys.platform != "win32", reason="asks Windows itself")
@given(st.text(st.sampled_from('ab \\"'), max_size=12))
def test_windows_splits_arguments_the_same_way(text):
    assume('""' not in text)  # of which its function and its C library think differently
    shell = ctypes.WinDLL("shell32")
    shell.CommandLineToArgvW.restype = ctypes.POINTER(ctypes.c_wchar_p)
    count = ctypes.c_int()
    found = shell.CommandLineToArgvW(f"program {text}", ctypes.byref(count))
    try:
        words = split_command(f"program {text}")
    except ValueError:  # an open quotation, which Windows lets pass
        return
    assert words == found[: count.value]
