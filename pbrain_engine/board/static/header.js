// The header: the connection, the language and the colours; and the keys of the page.

import { button, fillList, find, make, opened } from "./dom.js";
import { remember, remembered } from "./kept.js";
import { LANGUAGES, changeLanguage, language, said, t } from "./words.js";

const STEPS = { ArrowLeft: "undo", ArrowRight: "redo", Home: "first", End: "last" };
const NOTCH = 50; // pixels of the wheel that are one move
const ICONS = {
  play: '<circle cx="8.5" cy="9" r="5.5" fill="currentColor"/><circle cx="15.5" cy="15" r="5.5"/>',
  analyse: '<circle cx="10.5" cy="10.5" r="6.5"/><path d="M15.5 15.5 21 21"/>',
  review: '<path d="M3 18 8 9l4 5 4-9 5 7M3 21h18"/>',
  puzzle: '<path d="M4 8h4a2.5 2.5 0 1 1 5 0h4v4a2.5 2.5 0 1 1 0 5v4H4z"/>',
  games: '<path d="M4 6h16M4 12h16M4 18h10"/>',
  file: '<path d="M12 3v11m-4-4 4 4 4-4M4 16v5h16v-5"/>',
  known: '<path d="M4 6c0-4 16-4 16 0v12c0 4-16 4-16 0zM4 6c0 4 16 4 16 0M4 12c0 4 16 4 16 0"/>',
};

// A tab for each panel.
export function makeTabs() {
  for (const name in ICONS) {
    const tab = button("", null, { id: `tab-${name}`, role: "tab", "aria-controls": `panel-${name}`, hidden: name === "known" }, make("span", {}, t(`tab-${name}`)));
    tab.insertAdjacentHTML("afterbegin", `<svg viewBox="0 0 24 24" class="icon">${ICONS[name]}</svg>`);
    find("tabs").append(tab);
    find(`panel-${name}`).setAttribute("aria-labelledby", tab.id);
  }
}

export function listenToKeys(app) {
  // Each key with its message and what it does.
  const keys = {
    ...Object.fromEntries(Object.entries(STEPS).map(([key, name]) => [key, [name, () => app.moves.step(name)]])),
    n: ["new-game", () => app.play.ask()], t: ["take-back", () => app.play.takeBack()], h: ["hint", () => find("hint").hidden || app.play.hint()],
    " ": ["key-best", () => app.playBest()], a: ["tab-analyse", () => app.openTab("analyse")], p: ["prove", () => app.isQuiet || app.proof.begin()], m: ["next-mistake", () => app.review.next()],
    x: ["winning", () => { app.openTab("analyse"); find("winning").click(); }],
    r: ["rotate", () => app.file.turn("rotate")], "?": ["keys", () => opened("shortcuts")],
  };
  const signs = { ArrowLeft: "←", ArrowRight: "→", " ": "␣" };
  const list = [...Object.entries(keys).map(([key, [name]]) => [signs[key] || key, t(name)]), ["← ↑ → ↓", t("key-board")], ["Enter", t("key-enter")], ["d", t("key-mark")], [t("right-button"), t("key-draw")], ["Esc", t("key-escape")]];
  find("shortcuts").querySelector("dl").replaceChildren(...list.flatMap(([key, words]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, words)]));
  document.addEventListener("keydown", (event) => {
    const key = keys[event.key], isTyping = event.target.closest("input:not([type=range]), textarea, select, [role=tablist], dialog");
    if (!key || isTyping || event.ctrlKey || event.metaKey || event.altKey || (event.key === " " && event.target.closest("button, summary"))) return;
    if (event.target.type === "range" && event.key.startsWith("Arrow")) return;
    key[1]();
    event.preventDefault();
  });
}

// The wheel steps through the moves, where it has nothing to scroll and no game goes on.
export function listenToWheel(app) {
  let turned = 0;
  find("board").addEventListener("wheel", (event) => {
    if (event.ctrlKey || app.guide?.isOn || document.documentElement.scrollHeight > innerHeight) return;
    event.preventDefault();
    turned += event.deltaY;
    if (Math.abs(turned) < NOTCH) return;
    app.moves.step(turned > 0 ? "redo" : "undo");
    turned = 0;
  }, { passive: false });
}

export function fillHeader() {
  find("keys").addEventListener("click", () => opened("shortcuts"));
  fillList(find("language"), Object.entries(LANGUAGES));
  find("language").value = language;
  find("language").addEventListener("change", ({ target }) => changeLanguage(target.value));
  const themes = ["", "light", "dark", "contrast"], { dataset } = document.documentElement, theme = find("theme");
  const dress = (name) => {
    dataset.theme = name;
    theme.textContent = { light: "☀", dark: "☾", contrast: "◑" }[name] || "◐";
    theme.title = `${t("theme")}: ${t(`theme-${name || "auto"}`)}`;
  };
  dress(remembered("theme", ""));
  theme.addEventListener("click", () => {
    dress(themes[(themes.indexOf(dataset.theme) + 1) % themes.length]);
    remember("theme", dataset.theme);
  });
}

// state: "open", "lost", "back" or "refused", with a reason
export function showConnection(state, reason) {
  const link = find("link"), banner = find("banner");
  link.dataset.state = state;
  link.textContent = state === "open" ? "" : t(`link-${state}`);
  banner.hidden = state === "open" || state === "back";
  if (state === "lost") banner.replaceChildren(reason || t("link-lost-why"));
  if (state === "refused") {
    const input = make("input", { type: "text", size: 60, "aria-label": t("link-address") });
    banner.title = reason;
    banner.replaceChildren(`${said({ code: "token", error: reason })} `, input, button("→", () => {
      const token = /token=([^&#\s]+)/.exec(input.value)?.[1] || input.value.trim();
      location.search = "?token=" + encodeURIComponent(token);
    }));
  }
}
