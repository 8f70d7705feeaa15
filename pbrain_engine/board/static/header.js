// The header: the connection, the language and the colours; and the keys of the page.

import { fillList, find, make, opened } from "./dom.js";
import { remember, remembered } from "./kept.js";
import { LANGUAGES, language, said, t } from "./words.js";

const NOTCH = 50; // pixels of the wheel that are one move
// The button or box that a key presses, whose name is that of its message.
const KEYS = {
  ArrowLeft: "undo", ArrowRight: "redo", Home: "first", End: "last", n: "new-game", t: "take-back", h: "hint", " ": "key-best",
  a: "tab-analyse", p: "prove", m: "next-mistake", x: "winning", r: "rotate", "?": "keys",
};

export function listenToKeys(app) {
  const signs = { ArrowLeft: "←", ArrowRight: "→", " ": "␣" };
  const list = [...Object.entries(KEYS).map(([key, name]) => [signs[key] || key, t(name)]), ["← ↑ → ↓", t("key-board")], ["Enter", t("key-enter")], ["d", t("key-mark")], [t("right-button"), t("key-draw")], ["Esc", t("key-escape")]];
  find("shortcuts").querySelector("dl").replaceChildren(...list.flatMap(([key, words]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, words)]));
  document.addEventListener("keydown", (event) => {
    const name = KEYS[event.key], isTyping = event.target.closest("input:not([type=range]), textarea, select, [role=tablist], dialog");
    if (!name || isTyping || event.ctrlKey || event.metaKey || event.altKey || (event.key === " " && event.target.closest("button, summary"))) return;
    if (event.target.type === "range" && event.key.startsWith("Arrow")) return;
    if (name === "winning") app.openTab("analyse");
    const piece = name === "key-best" ? find("lines-found").querySelector("button") : find(name);
    if (!piece?.hidden) piece?.click();
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
  find("language").addEventListener("change", () => location.reload()); // the game goes on where it was
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
  const link = find("link"), isRefused = state === "refused";
  link.dataset.state = state;
  link.textContent = state === "open" ? "" : t(`link-${state}`);
  find("banner").hidden = state === "open" || state === "back";
  find("trouble").textContent = isRefused ? said({ code: "token", error: reason }) : reason || t("link-lost-why");
  find("trouble").title = reason || "";
  find("admission").hidden = !isRefused;
}
