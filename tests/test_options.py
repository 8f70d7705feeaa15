"""Programs with arguments as one text: by the rules of each system, the same way everywhere."""

import ctypes
import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pbrain_engine.options import join_command, split_command

WINDOWS_LINES = {
    r"C:\engines\rapfi.exe": [r"C:\engines\rapfi.exe"],
    r'"C:\my engines\rapfi.exe" --mode x': [r"C:\my engines\rapfi.exe", "--mode", "x"],
    r'a.exe "two words" "" three\ ': ["a.exe", "two words", "", "three\\"],
    r"a.exe 'single quotes'": ["a.exe", "'single", "quotes'"],
    r'a.exe "a folder\\" b': ["a.exe", "a folder\\", "b"],
    r"a.exe \"quote\" \\\"both": ["a.exe", '"quote"', r"\"both"],
    "  a.exe\t b  ": ["a.exe", "b"],
    "": [],
}


@pytest.mark.parametrize("text", WINDOWS_LINES)
def test_on_windows_backslashes_stay_and_quotes_go(text):
    assert split_command(text, windows=True) == WINDOWS_LINES[text]


def test_on_unix_a_shell_would_split_it_so():
    text = r"""'/my engines/rapfi' --mode "x y" a\ b"""
    assert split_command(text, windows=False) == ["/my engines/rapfi", "--mode", "x y", "a b"]


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
