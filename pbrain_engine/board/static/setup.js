// The dialog of a new game: presets, sides, strength, and under More everything else.

import { element } from "./draw.js";
import { button, fillList, find, make, refill } from "./dom.js";
import { remember, remembered } from "./kept.js";
import { t } from "./words.js";

export const RULES = ["freestyle", "standard", "renju", "caro", "caro_exact"];
// The rules of openings; all but the first two are renju's, on 15x15.
const OPENINGS = ["swap", "swap2", "rif", "yamaguchi", "soosorv-8", "taraguchi-10"];
const RENJU = { rule: "renju", width: 15, height: 15 };
const METHODS = ["uct", "adp", "genetic", "puct", "knowledge", "minimax", "evaluation", "proofnumber", "alphabeta", "deepening", "threatspace"];
// Each with the cells of its picture: black, white, black, ...
const PRESETS = {
  freestyle: { rule: "freestyle", width: 15, height: 15, opening: "none", cells: [[3, 3], [4, 2], [2, 4], [3, 4], [4, 4]] },
  standard: { rule: "standard", width: 15, height: 15, opening: "none", cells: [[1, 3], [3, 1], [2, 3], [4, 1], [3, 3], [5, 2], [4, 3], [2, 5], [5, 3]] },
  renju: { rule: "renju", width: 15, height: 15, opening: "none", cells: [[3, 3], [3, 2], [4, 2]], foul: [2, 4] },
  gomocup: { rule: "freestyle", width: 20, height: 20, opening: "none", cells: [[2, 2], [6, 3], [4, 6]] },
  swap: { rule: "standard", width: 15, height: 15, opening: "swap", cells: [[1, 2], [4, 1], [5, 4]] },
  swap2: { rule: "standard", width: 15, height: 15, opening: "swap2", cells: [[2, 3], [3, 2], [4, 4]] },
  rif: { ...RENJU, opening: "rif", cells: [[3, 3], [4, 2], [5, 3]] },
  yamaguchi: { ...RENJU, opening: "yamaguchi", cells: [[3, 3], [3, 2], [4, 4]] },
  "soosorv-8": { ...RENJU, opening: "soosorv-8", cells: [[3, 3], [4, 3], [4, 1], [2, 3]] },
  "taraguchi-10": { ...RENJU, opening: "taraguchi-10", cells: [[3, 3], [4, 2], [1, 4], [4, 4], [3, 5]] },
};

const form = find("setup-form");
export const field = (name) => form.elements[name];
export const values = () => Object.fromEntries(new FormData(form));
const isForRenju = (opening) => OPENINGS.indexOf(opening) > 1;
export const fill = (kept) => { for (const name in kept) if (field(name)) field(name).value = kept[name]; };

// The board of a new game, as the form has it.
export function chosenBoard() {
  return { rule: field("rule").value, width: Number(field("width").value), height: Number(field("height").value) };
}

export const levelName = (level) => (isNaN(level) ? level : t("level-n", { level: Number(level) }));
export const levelNote = (level) => (isNaN(level) ? t("textbook") : t(`level-${level}`));

export function fillForm() {
  fillList(find("rule"), RULES.map((rule) => [rule, t(`rule-${rule}`)]));
  fillList(find("opening"), ["none", ...OPENINGS].map((name) => [name, t(`opening-${name}`)]));
  const levels = Array.from({ length: 10 }, (_, at) => [at + 1, `${at + 1} · ${t(`level-${at + 1}`)}`]);
  fillList(find("level"), [["", "Numoku", levels], ["", t("textbook"), METHODS.map((name) => [name, name])]]);
  fill({ level: 5, ...remembered("setup", {}) });
  if (!field("opening").value) fill({ opening: "none" }); // an earlier release had others
  form.addEventListener("change", ({ target }) => {
    const { opening, rule, width, height } = values();
    if (isForRenju(opening) && `${rule} ${width} ${height}` !== "renju 15 15") fill(target.name === "opening" ? RENJU : { opening: "none" });
    remember("setup", values());
    showForm();
  });
  showForm();
}

export function showForm() {
  const level = field("level").value;
  find("level-note").textContent = t(isNaN(level) ? "textbook-note" : `like-${level}`);
  const isOpening = field("opening").value !== "none";
  ["black", "white"].forEach((side, at) => { find(`person-${side}`).textContent = t(isOpening ? ["you-begin", "numoku-begins"][at] : side); });
  presets(find("presets"), showForm);
}

// Fill a list with buttons for the usual boards; then is called when one was chosen.
export function presets(list, then) {
  const now = values();
  refill(list, Object.entries(PRESETS).map(([name, { cells, foul, ...fields }]) => {
    const isChosen = Object.keys(fields).every((key) => String(fields[key]) === now[key]);
    const choose = () => {
      fill(fields);
      remember("setup", values());
      then(fields);
    };
    return [[name, isChosen], () => button("", choose, { "aria-pressed": String(isChosen) }, picture(cells, foul), make("span", {}, t(OPENINGS.includes(name) ? `opening-${name}` : `preset-${name}`)))];
  }));
}

function picture(cells, foul) {
  const svg = element("svg", { viewBox: "0 0 60 60", class: "board", "aria-hidden": "true" }), at = (place) => 6 + place * 8;
  element("rect", { width: 60, height: 60, fill: "var(--wood-a)" }, svg);
  element("path", { class: "cut", d: Array.from({ length: 7 }, (_, line) => `M6 ${at(line)}H54M${at(line)} 6V54`).join("") }, svg);
  cells.forEach(([x, y], ply) => element("circle", { cx: at(x), cy: at(y), r: 3.8, fill: ply % 2 ? "#f7f5ef" : "#1c1b1b", stroke: "#0005" }, svg));
  if (foul) element("path", { class: "foul", d: `M${at(foul[0]) - 3} ${at(foul[1]) - 3}l6 6m0-6l-6 6` }, svg);
  return svg;
}
