"""The words of the page: every language has every message, and no label is cut off in any."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pbrain_engine.board.app import STATIC
from pbrain_engine.game.opening_rules import THIRDS
from tests.board.board_page import Open

PACKAGE = STATIC.parents[1]
LANGUAGES = ("en", "zh", "zh-TW", "ja", "ko", "ru", "vi", "cs")
UNNAMED = {"language", "analysis-on", "review-seconds"}  # fields whose label is not theirs
SERVERS = ("error-",)  # which the server says in English itself
CASES = re.compile(r"\{(\w+), (?:plural|select), (?:[\w=]+ \{[^{}]*\} ?)+\}")
FORMS = {
    "ru": {"one", "few", "many", "other"}, "cs": {"one", "few", "other"}, "en": {"one", "other"}
}  # fmt: skip
# Of each tab, and of the dialog of a new game, the labels, buttons and options whose text is wider
# than what they lie in.
CUT = """(() => {
  const seen = (one) => one.checkVisibility() && one.getBoundingClientRect().width > 2;
  const names = "button, label > span, label.button, h2, [role=tab] span, th, small, summary";
  const pen = document.createElement("canvas").getContext("2d");
  const isCut = (one) => {
    const box = one.getBoundingClientRect(), text = document.createRange();
    text.selectNodeContents(one);
    const words = text.getBoundingClientRect();
    return one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline"
      || words.width > box.width + 1 || box.left < -1 || box.right > innerWidth + 1;
  };
  const isNarrow = (list) => {
    pen.font = getComputedStyle(list).font;
    return pen.measureText(list.selectedOptions[0].text).width + 30 > list.clientWidth;
  };
  const cut = [], find = (selector) => [...document.querySelectorAll(selector)].filter(seen);
  const look = (place) => {
    const found = find(`#about, ${names}`).filter(isCut);
    found.push(...find("select:not([size], #language)").filter(isNarrow));
    if (document.documentElement.scrollWidth > innerWidth) found.push(document.body);
    cut.push(...found.map((one) => `${place} ${one.id || one.className} ${one.textContent}`));
  };
  for (const tab of document.querySelectorAll("[role=tab]")) {
    tab.hidden = false;
    tab.click();
    document.querySelectorAll("details").forEach((one) => { one.open = true; });
    look(tab.id);
  }
  document.querySelector("#new-game").click();
  look("dialog");
  document.querySelector("#setup-cancel").click();
  return cut;
})()"""


@pytest.fixture(scope="module")
def words() -> dict[str, dict[str, str]]:
    """Read the tables as a browser does."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed; the words are not read")
    read = "Promise.all(process.argv.slice(1).map((f) => import(f))).then((all) => console.log("
    read += "JSON.stringify(all.map(({ words }) => words))))"
    paths = [str(STATIC / f"words-{name}.js") for name in LANGUAGES]
    command = [node, "--no-warnings", "-e", read, *paths]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(zip(LANGUAGES, json.loads(found), strict=True))


def asked() -> set[str]:
    """Return the names of messages that scripts and pages name as they are."""
    text = "\n".join(p.read_text("utf-8") for p in STATIC.iterdir() if p.suffix in (".js", ".html"))
    names = set(re.findall(r"""\bt\("([^"]+)"[,)]""", text))
    names |= set(re.findall(r'data-t(?:-\w+)?="([^"]+)"', text))
    names |= {name for name in re.findall(r'id="([^"]+)"[^>]* data-t[\s>]', text)}
    names |= set(re.findall(r'<label[^>]*><(?:input|select)[^>]* id="([^"]+)"', text)) - UNNAMED
    return names - {"name"}


def test_every_language_has_every_message(words: dict[str, dict[str, str]]) -> None:
    english = words["en"]
    assert {name for name in asked() if not name.startswith(SERVERS)} <= set(english)
    for name, table in words.items():
        said = {key for key in table if not key.startswith(SERVERS)}
        assert said == set(english), (name, said ^ set(english))
        for key, text in table.items():
            assert text.strip() or key == "or", (name, key)
            holes = re.findall(r"\{(\w+)\}", CASES.sub(r"{\1}", text))
            origin = english.get(key) or words["zh"][key]
            known = re.findall(r"\{(\w+)\}", CASES.sub(r"{\1}", origin))
            assert set(holes) <= set(known), (name, key, holes)
            for forms in re.findall(r"plural, ((?:[\w=]+ \{[^{}]*\} ?)+)", text):
                has = {form for form in re.findall(r"([\w=]+) \{", forms) if "=" not in form}
                if len(has) > 1:
                    assert has == FORMS[name], (name, key, has)
                assert "other" in has, (name, key)


def test_errors_with_codes_have_words_in_the_tables(words: dict[str, dict[str, str]]) -> None:
    sources = "".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    codes = set(re.findall(r"""(?:\.coded\(|\bRemark\([^)]*?,)\s*"([\w-]+)\"""", sources))
    for language in LANGUAGES[1:]:
        said = {name[6:] for name in words[language] if name.startswith("error-")}
        assert codes | {"token"} == said, language


REFUSED = {
    "h8 hello": "2 手目：「hello」は座標ではありません。座標は h8 や 7,7 と書きます",
    "h8z9": "2 手目：z9 は 15×15 の盤の外です",
    "h8a1i8b1j8c1k8d1l8e1": "10 手目の前に対局は終わっています",
    ". . X . X\n" * 5: "手番が分かりません。「black to move」か「white to move」の行",
    "40x40: h8": "40×40 の盤はありません。一辺は 5 から 22 です",
    "(;XX[1];B[hh];AW[aa])": "石は除きました：1; 読まなかった SGF のプロパティ：XX",
    "(;GM[4];B[hh": "SGF ファイルが壊れています",
}


def test_refusals_and_rules_are_said_in_the_language_of_the_page(opened: Open) -> None:
    page = opened(locale="ja")
    for text, why in REFUSED.items():
        page.read(text)
        page.says("file-status", why)
    page.press("new-game")
    page.says("presets", "題数打ち")
    page.set(opening="taraguchi-10")
    assert page.do("document.querySelector('#opening').selectedOptions[0].text") == "五珠交替打ち"


def test_the_page_says_all_in_the_language_of_the_browser_until_another_is_chosen(
    opened: Open,
) -> None:
    page = opened(locale="cs-CZ")
    assert page.do("document.documentElement.lang") == "cs"
    assert page.text("new-game") == "Nová partie"
    page.says("state", "Na tahu je černý")
    loaded = page.do("performance.getEntriesByType('resource').map(({ name }) => name)")
    assert [Path(name).name for name in loaded if "words-" in name] == ["words-cs.js"]
    page.play("h8")
    page.wait("app.node.ply === 2")
    assert page.do("app.tree.names.white") == "Numoku úroveň 5"
    page.raw.select_option("#language", "zh", force=True)
    page.wait("window.app?.node.facts && document.documentElement.lang === 'zh'")
    assert page.text("new-game") == "新对局" and page.do("app.node.ply") == 2
    page.reload("document.documentElement.lang === 'zh'")


def test_chinese_has_the_letters_of_the_place_and_its_names_of_openings(opened: Open) -> None:
    page = opened("h8h9i9", rule="renju", locale="zh-HK")
    assert page.text("new-game") == "新對局"
    page.says("about", "D4 花月")
    for moves, name in (("h8i9i7", "I7 浦月"), ("h8i9f6", "I13 彗星")):
        page.show(moves, rule="renju")
        page.says("about", name)
    for language in ("zh", "zh-TW", "ja", "ko", "ru"):
        names = page.do(f"import('./words-{language}.js').then(({{ openings }}) => openings)")
        assert len(set(names)) == sum(map(len, THIRDS.values())) - (language == "ko"), language


def test_no_label_is_cut_off_in_any_language_and_messages_have_plurals(opened: Open) -> None:
    page = opened("h8a1i8c1j8e1a15h1")
    for language in LANGUAGES:
        page.do(f"localStorage['numoku.language'] = '\"{language}\"'")
        page.reload(f"document.documentElement.lang === '{language}'")
        for wide, high in ((320, 640), (360, 740), (1280, 800)):
            page.resize(wide, high)
            assert page.do(CUT) == [], (language, wide)
        if language == "ru":
            counts = "[1, 3, 5, 21].map((n) => t('n-moves', { n }))"
            found = page.do(f"import('./words.js').then(({{ t }}) => {counts})")
            assert found == ["1 ход", "3 хода", "5 ходов", "21 ход"]
