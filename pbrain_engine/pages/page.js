// Steps through the games of a report: a list, a board, and the values over the game.

const match = JSON.parse(document.getElementById("match").textContent);
const find = (id) => document.getElementById(id);
let game = null, chosen = 0, shown = 0, cells = [];

const LEFT = 40, RIGHT = 10; // of a curve, next to its scale

// Chances over a game: points are lists of [ply, share], one list for each class of lines.
function drawCurve(chart, length, lines, now, wide = 560, tall = 120) {
  chart.replaceChildren();
  chart.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
  const x = (ply) => LEFT + (ply / Math.max(1, length)) * (wide - LEFT - RIGHT), y = (share) => tall - 18 - share * (tall - 26);
  for (const share of [0, 0.5, 1]) {
    element("line", { class: share === 0.5 ? "mark" : "grid", x1: LEFT, x2: wide - RIGHT, y1: y(share), y2: y(share) }, chart);
    element("text", { x: LEFT - 4, y: y(share) + 4, "text-anchor": "end" }, chart, `${100 * share} %`);
  }
  const step = [1, 2, 5, 10, 20, 50, 100].find((plies) => length / plies <= 12) || 200;
  for (let ply = 0; ply <= length; ply += step) element("text", { x: x(ply), y: tall - 3, "text-anchor": "middle" }, chart, ply);
  for (const [style, points] of lines) {
    const path = points.map(([ply, share]) => `${x(ply).toFixed(1)},${y(share).toFixed(1)}`);
    element("polyline", { class: style, points: path.join(" ") }, chart);
  }
  element("line", { class: "now", x1: x(now), x2: x(now), y1: y(1), y2: y(0) }, chart);
}

function plyAt(chart, event, length, wide = 560) {
  const box = chart.getBoundingClientRect();
  const at = ((event.clientX - box.left) / box.width) * wide;
  return Math.min(Math.max(Math.round(((at - LEFT) / (wide - LEFT - RIGHT)) * length), 0), length);
}

function drawBoard() {
  const board = find("board");
  board.replaceChildren();
  drawGrid(board, match.width, match.height);
  cells.slice(0, shown).forEach((cell, ply) => {
    drawStone(board, cell, ply % 2, ply + 1, ply < game.given ? "given" : "");
    if (ply === shown - 1) drawLast(board, cell);
  });
}

function describeMove() {
  if (!shown) return "empty board";
  const number = shown - 1 - game.given, cell = nameOf(cells[shown - 1]);
  if (number < 0) return `${shown}. ${cell} (given)`;
  const words = [`${shown}. ${cell}`];
  if (game.depth[number] !== null) words.push(`depth ${game.depth[number]}`);
  const value = game.value[number];
  if (value !== null) words.push(`value ${valueText(value)} (${Math.round(100 * game.chance[number])} %)`);
  if (game.nodes[number] !== null) words.push(`${game.nodes[number].toLocaleString("en")} nodes`);
  words.push(`${(game.ms[number] / 1000).toFixed(2)} s`);
  return words.join(" · ");
}

function drawValues() {
  const lines = [0, 1].map((side) => [side ? "b" : "a", []]);
  game.chance.forEach((chance, number) => {
    const ply = game.given + number;
    if (chance !== null) lines[ply % 2][1].push([ply + 1, ply % 2 ? 1 - chance : chance]);
  });
  drawCurve(find("value"), cells.length, lines, shown);
}

// Where the board serves: as said here before, else the usual place. With its token in the
// address the page is admitted at once.
const PLACE = "numoku.board", place = find("board-address");
place.value = match.board;
try { place.value = localStorage.getItem(PLACE) || match.board; } catch { /* then each time anew */ }
place.addEventListener("input", () => {
  try { localStorage.setItem(PLACE, place.value.trim()); } catch { /* see above */ }
  linkToBoard();
});

// The same position on the board of `numoku board`, which has to run.
function linkToBoard() {
  const moves = cells.map(nameOf).join(""), board = (place.value.trim() || match.board).replace(/#.*/, "");
  find("analyse").href = `${/^https?:/.test(board) ? board : "http://" + board}#b=${match.width}x${match.height}&r=${match.rule}&m=${moves}&n=${shown}`;
}

function show(stones) {
  shown = Math.min(Math.max(0, stones), cells.length);
  find("step").value = shown;
  find("move").textContent = describeMove();
  drawBoard();
  drawValues();
  linkToBoard();
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
    const players = `${entry.game + 1}: ${entry.black} – ${entry.white} `;
    if (!`${players}${entry.result} ${entry.reason}`.toLowerCase().includes(wanted)) return;
    const item = document.createElement("li");
    item.innerHTML = '<span class="result"></span> <span class="end"></span>';
    item.firstChild.textContent = entry.result;
    item.lastChild.textContent = entry.reason;
    item.prepend(players);
    item.dataset.number = number;
    item.setAttribute("role", "option");
    if (entry.fault) item.className = "fault";
    item.addEventListener("click", () => choose(number));
    items.push(item);
  });
  find("games").replaceChildren(...items);
  mark();
}

find("filter").addEventListener("input", list);
const steps = { first: () => 0, back: () => shown - 1, next: () => shown + 1, last: () => cells.length };
const keys = { Home: "first", ArrowLeft: "back", ArrowRight: "next", End: "last" };
for (const name in steps) find(name).addEventListener("click", () => show(steps[name]()));
find("step").addEventListener("input", (event) => show(Number(event.target.value)));
find("value").addEventListener("click", (event) => {
  show(plyAt(find("value"), event, cells.length));
});
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT" && event.target.type !== "range") return;
  if (game && event.key in keys) { show(steps[keys[event.key]]()); event.preventDefault(); }
});
list();
if (match.games.length) choose(0);
