"use strict";
// Steps through the games of a report: a list, a board, and the values over the game.

const match = JSON.parse(document.getElementById("match").textContent);
const SVG = "http://www.w3.org/2000/svg";
const CELL = 30, EDGE = 26, WIN_BAND = 29500;
const find = (id) => document.getElementById(id);
let game = null, chosen = 0, shown = 0, cells = [];

function element(name, attributes, parent, text) {
  const made = document.createElementNS(SVG, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

function readCells(text) {
  return (text.match(/[a-z]\d+/g) || []).map((word) => [word.charCodeAt(0) - 97, parseInt(word.slice(1), 10) - 1]);
}

function nameOf([x, y]) { return String.fromCharCode(97 + x) + (y + 1); }

function valueText(value) {
  if (value >= WIN_BAND) return "+M" + (30000 - value);
  if (value <= -WIN_BAND) return "-M" + (30000 + value);
  return (value > 0 ? "+" : "") + value;
}

// The mover's value as black's chance to win, on the scale of Numoku's own values.
function chance(value, ply) {
  const black = ply % 2 ? -value : value;
  return 1 / (1 + Math.exp(-black / match.unit));
}

function drawEmpty(board) {
  const wide = 2 * EDGE + (match.width - 1) * CELL, tall = 2 * EDGE + (match.height - 1) * CELL;
  board.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
  element("rect", { class: "wood", width: wide, height: tall, rx: 8 }, board);
  for (let x = 0; x < match.width; x++) {
    const at = EDGE + x * CELL;
    element("line", { class: "cut", x1: at, x2: at, y1: EDGE, y2: tall - EDGE }, board);
    element("text", { class: "edge", x: at, y: 12 }, board, String.fromCharCode(97 + x));
  }
  for (let y = 0; y < match.height; y++) {
    const at = EDGE + y * CELL;
    element("line", { class: "cut", x1: EDGE, x2: wide - EDGE, y1: at, y2: at }, board);
    element("text", { class: "edge", x: 9, y: at + 4 }, board, y + 1);
  }
}

function drawBoard() {
  const board = find("board");
  board.replaceChildren();
  drawEmpty(board);
  cells.slice(0, shown).forEach(([x, y], ply) => {
    const cx = EDGE + x * CELL, cy = EDGE + y * CELL, given = ply < game.given ? " given" : "";
    element("circle", { class: `stone stone${ply % 2}${given}`, cx, cy, r: CELL * 0.44 }, board);
    element("text", { class: `number on${ply % 2}`, x: cx, y: cy + 4 }, board, ply + 1);
    if (ply === shown - 1) element("circle", { class: "last", cx, cy, r: CELL * 0.46 }, board);
  });
}

function describeMove() {
  if (!shown) return "empty board";
  const number = shown - 1 - game.given, cell = nameOf(cells[shown - 1]);
  if (number < 0) return `${shown}. ${cell} (given)`;
  const words = [`${shown}. ${cell}`];
  if (game.depth[number] !== null) words.push(`depth ${game.depth[number]}`);
  const value = game.value[number];
  if (value !== null) words.push(`value ${valueText(value)} (${Math.round(100 * chance(value, 0))} %)`);
  if (game.nodes[number] !== null) words.push(`${game.nodes[number].toLocaleString("en")} nodes`);
  words.push(`${(game.ms[number] / 1000).toFixed(2)} s`);
  return words.join(" · ");
}

function drawValues() {
  const chart = find("value"), wide = 560, tall = 120, last = Math.max(1, cells.length);
  chart.replaceChildren();
  chart.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
  const x = (stone) => (stone / last) * wide, y = (share) => tall - 4 - share * (tall - 8);
  element("line", { class: "mark", x1: 0, x2: wide, y1: y(0.5), y2: y(0.5) }, chart);
  for (const side of [0, 1]) {
    const points = [];
    game.value.forEach((value, number) => {
      const ply = game.given + number;
      if (value !== null && ply % 2 === side) points.push(`${x(ply + 1).toFixed(1)},${y(chance(value, ply)).toFixed(1)}`);
    });
    element("polyline", { class: side ? "b" : "a", points: points.join(" ") }, chart);
  }
  element("line", { class: "now", x1: x(shown), x2: x(shown), y1: 0, y2: tall }, chart);
}

function show(stones) {
  shown = Math.min(Math.max(0, stones), cells.length);
  find("step").value = shown;
  find("move").textContent = describeMove();
  drawBoard();
  drawValues();
}

function mark() {
  for (const item of find("games").children) item.setAttribute("aria-selected", item.dataset.number === String(chosen));
}

function choose(number) {
  chosen = number;
  game = match.games[number];
  const given = readCells(game.opening);
  game.given = given.length;
  cells = given.concat(readCells(game.moves));
  find("step").max = cells.length;
  find("players").textContent = `● ${game.black}  –  ○ ${game.white}   ${game.result}`;
  find("ending").textContent = game.reason + (game.detail ? ": " + game.detail : "");
  mark();
  show(cells.length);
}

function list() {
  const wanted = find("filter").value.toLowerCase(), items = [];
  match.games.forEach((entry, number) => {
    const words = `${entry.game + 1}: ${entry.black} – ${entry.white} ${entry.result}`;
    const end = `${entry.reason}`;
    if (wanted && !`${words} ${end}`.toLowerCase().includes(wanted)) return;
    const item = document.createElement("li");
    item.dataset.number = number;
    item.setAttribute("role", "option");
    if (entry.fault) item.className = "fault";
    item.append(words + " ");
    const tail = document.createElement("span");
    tail.className = "end";
    tail.textContent = end;
    item.append(tail);
    item.addEventListener("click", () => choose(number));
    items.push(item);
  });
  find("games").replaceChildren(...items);
  mark();
}

find("filter").addEventListener("input", list);
find("first").addEventListener("click", () => show(0));
find("back").addEventListener("click", () => show(shown - 1));
find("next").addEventListener("click", () => show(shown + 1));
find("last").addEventListener("click", () => show(cells.length));
find("step").addEventListener("input", (event) => show(Number(event.target.value)));
find("value").addEventListener("click", (event) => {
  const box = find("value").getBoundingClientRect();
  show(Math.round(((event.clientX - box.left) / box.width) * cells.length));
});
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT" && event.target.type !== "range") return;
  const moves = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: cells.length };
  if (game && event.key in moves) { show(moves[event.key]); event.preventDefault(); }
});
list();
if (match.games.length) choose(0);
