// Steps through the games of a report: a list, a board, and the values over the game.

const match = JSON.parse(document.getElementById("match").textContent);
const find = (id) => document.getElementById(id);
const list = find("games"), items = [...list.children];
let game = null, shown = 0, cells = [];

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

// The chances that both sides saw, over a scale that is there already.
const LEFT = 40, WIDE = 510, HIGH = 94, TOP = 8; // within the chart

function drawValues() {
  const lines = find("lines"), length = cells.length, paths = [[], []];
  const x = (ply) => LEFT + (ply / Math.max(1, length)) * WIDE;
  lines.replaceChildren();
  const step = [1, 2, 5, 10, 20, 50, 100].find((plies) => length / plies <= 12) || 200;
  for (let ply = 0; ply <= length; ply += step) element("text", { x: x(ply), y: 117, "text-anchor": "middle" }, lines, ply);
  game.chance.forEach((chance, number) => {
    const side = (game.given + number) % 2, share = side ? 1 - chance : chance;
    if (chance !== null) paths[side].push(`${x(game.given + number + 1).toFixed(1)},${(TOP + (1 - share) * HIGH).toFixed(1)}`);
  });
  paths.forEach((path, side) => element("polyline", { class: side ? "b" : "a", points: path.join(" ") }, lines));
  element("line", { class: "now", x1: x(shown), x2: x(shown), y1: TOP, y2: TOP + HIGH }, lines);
}

// Where the board serves: as said here before, else the usual place. With its token in the
// address the page is admitted at once.
const PLACE = "numoku.board", place = find("board-address");
try { place.value = localStorage.getItem(PLACE) || place.value; } catch { /* then each time anew */ }
place.addEventListener("input", () => {
  try { localStorage.setItem(PLACE, place.value.trim()); } catch { /* see above */ }
  linkToBoard();
});

// The same position on the board of `numoku board`, which has to run.
function linkToBoard() {
  const moves = cells.map(nameOf).join(""), board = (place.value.trim() || place.defaultValue).replace(/#.*/, "");
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

function choose(number) {
  items.forEach((item, at) => item.setAttribute("aria-selected", at === number));
  game = match.games[number];
  const given = readCells(game.opening);
  game.given = given.length;
  cells = given.concat(readCells(game.moves));
  find("step").max = cells.length;
  find("players").textContent = `● ${game.black}  –  ○ ${game.white}   ${game.result}`;
  find("ending").textContent = game.reason + (game.detail ? ": " + game.detail : "");
  show(cells.length);
}

list.addEventListener("click", ({ target }) => {
  const number = items.indexOf(target.closest("li"));
  if (number >= 0) choose(number);
});
find("filter").addEventListener("input", ({ target }) => {
  const wanted = target.value.toLowerCase();
  list.replaceChildren(...items.filter((item) => item.textContent.toLowerCase().includes(wanted)));
});
const steps = { first: () => 0, back: () => shown - 1, next: () => shown + 1, last: () => cells.length };
const keys = { Home: "first", ArrowLeft: "back", ArrowRight: "next", End: "last" };
for (const name in steps) find(name).addEventListener("click", () => show(steps[name]()));
find("step").addEventListener("input", (event) => show(Number(event.target.value)));
find("value").addEventListener("click", ({ clientX }) => {
  const { x } = new DOMPoint(clientX).matrixTransform(find("value").getScreenCTM().inverse());
  show(Math.round(((x - LEFT) / WIDE) * cells.length));
});
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT" && event.target.type !== "range") return;
  if (game && event.key in keys) { show(steps[keys[event.key]]()); event.preventDefault(); }
});
if (match.games.length) choose(0);
