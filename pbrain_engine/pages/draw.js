// What all pages draw: boards, stones and curves, and how cells and values are written.

export const SVG = "http://www.w3.org/2000/svg";
export const CELL = 30, EDGE = 32, FAR = 18, WIN = 30000, WIN_BAND = 29500;

export function element(name, attributes, parent, text) {
  const made = document.createElementNS(SVG, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

export function letterOf(x) { return String.fromCharCode(97 + x); }

export function nameOf([x, y]) { return letterOf(x) + (y + 1); }

export function readCells(text) {
  return (text.match(/[a-z]\d+/g) || []).map((word) => [word.charCodeAt(0) - 97, parseInt(word.slice(1), 10) - 1]);
}

export function valueText(value) {
  if (value >= WIN_BAND) return "+M" + (WIN - value);
  if (value <= -WIN_BAND) return "-M" + (WIN + value);
  return (value > 0 ? "+" : "") + value;
}

// A value as a chance to win for the same side; one logistic unit is this many units of it.
export function chanceOf(value, unit) {
  if (value >= WIN_BAND) return 1;
  if (value <= -WIN_BAND) return 0;
  return 1 / (1 + Math.exp(-value / unit));
}

export function centre([x, y]) { return [EDGE + x * CELL, EDGE + y * CELL]; }

// The empty board, with letters and numbers; rows may be counted from the bottom.
export function drawGrid(board, width, height, fromBottom = false) {
  const wide = EDGE + (width - 1) * CELL + FAR, tall = EDGE + (height - 1) * CELL + FAR; // names on two sides alone
  board.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
  element("rect", { class: "wood", width: wide, height: tall, rx: 8 }, board);
  for (let x = 0; x < width; x++) {
    const at = EDGE + x * CELL;
    element("line", { class: "cut", x1: at, x2: at, y1: EDGE, y2: tall - FAR }, board);
    element("text", { class: "edge", x: at, y: 12 }, board, letterOf(x));
  }
  for (let y = 0; y < height; y++) {
    const at = EDGE + y * CELL;
    element("line", { class: "cut", x1: EDGE, x2: wide - FAR, y1: at, y2: at }, board);
    element("text", { class: "edge", x: 9, y: at + 4 }, board, fromBottom ? height - y : y + 1);
  }
  if (width % 2 && height % 2 && Math.min(width, height) > 6) {
    const [mx, my] = [(width - 1) / 2, (height - 1) / 2];
    const marks = [[mx, my]];
    if (Math.min(width, height) > 12) marks.push([3, 3], [width - 4, 3], [3, height - 4], [width - 4, height - 4]);
    for (const mark of marks) {
      const [cx, cy] = centre(mark);
      element("circle", { class: "point", cx, cy, r: 2.6 }, board);
    }
  }
}

// A stone of side 0 (black) or 1 (white); its number and further classes may be left out.
export function drawStone(board, cell, side, number, more = "") {
  const [cx, cy] = centre(cell);
  element("circle", { class: `stone stone${side} ${more}`, cx, cy, r: CELL * 0.44 }, board);
  if (number) element("text", { class: `number on${side} ${more}`, x: cx, y: cy + 4 }, board, number);
}

export function drawLast(board, cell) {
  const [cx, cy] = centre(cell);
  element("circle", { class: "last", cx, cy, r: CELL * 0.46 }, board);
}

const LEFT = 40, RIGHT = 10; // of a curve, beside its scale

// Chances over a game: points are lists of [ply, share], one list for each class of lines.
export function drawCurve(chart, length, lines, now, wide = 560, tall = 120) {
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

export function plyAt(chart, event, length, wide = 560) {
  const box = chart.getBoundingClientRect();
  const at = ((event.clientX - box.left) / box.width) * wide;
  return Math.min(Math.max(Math.round(((at - LEFT) / (wide - LEFT - RIGHT)) * length), 0), length);
}
