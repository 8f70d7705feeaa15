// A position in the address of the page: #b=15x15&r=renju&m=h8i9&n=1, and stones set up before.

import { nameOf, readCells } from "./draw.js";
import { RULES } from "./setup.js";
import { GameTree } from "./tree.js";
import { t } from "./words.js";

const LETTERS = { black: "x", white: "o", wall: "w" };

export function write(node) {
  const { width, height, rule, placed, first } = node.tree.start;
  const end = node.end, words = [`b=${width}x${height}`, `r=${rule}`];
  for (const side in LETTERS) {
    const cells = placed.filter((stone) => stone.side === side).map(({ x, y }) => nameOf([x, y]));
    if (cells.length) words.push(`${LETTERS[side]}=${cells.join("")}`);
  }
  if (first !== "black") words.push("f=white");
  words.push(`m=${end.moves.map(nameOf).join("")}`);
  if (node !== end) words.push(`n=${node.ply}`);
  return "#" + words.join("&");
}

// The position of an address, or null if there is none; throws where it is wrong.
export function read(hash) {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  if (!words.has("m") && !words.has("b")) return null;
  const [, width, height] = (/^(\d+)x(\d+)$/.exec(words.get("b") || "15x15") || []).map(Number);
  const rule = words.get("r") || "freestyle";
  if (!(width >= 5 && width <= 22 && height >= 5 && height <= 22) || !RULES.includes(rule)) throw new Error(t("address-no-board"));
  const placed = [], taken = new Set();
  const check = (cell) => {
    if (cell[0] >= width || cell[1] >= height || cell[1] < 0 || taken.has(String(cell))) throw new Error(t("address-wrong", { cell: nameOf(cell) }));
    taken.add(String(cell));
    return cell;
  };
  for (const side in LETTERS) {
    for (const [x, y] of readCells(words.get(LETTERS[side]) || "").map(check)) placed.push({ x, y, side });
  }
  const tree = new GameTree({ width, height, rule, placed, first: words.get("f") === "white" ? "white" : "black" });
  let node = tree.playLine(tree.root, readCells(words.get("m") || "").map(check));
  const ply = words.get("n");
  while (ply !== null && node.ply > Number(ply)) node = node.parent;
  return node;
}
