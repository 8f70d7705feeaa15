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

export function centre([x, y]) { return [EDGE + x * CELL, EDGE + y * CELL]; }

// The gradients that give wood and stones their depth; the style sheet has the colours.
function drawPaints(board) {
  const defs = element("defs", {}, board);
  const paint = (kind, id, more, stops) => {
    const made = element(kind, { id, ...more }, defs);
    stops.forEach((offset, at) => element("stop", { class: `${id}-${at}`, offset }, made));
  };
  paint("linearGradient", "wood", { x1: 0, y1: 0, x2: 0.6, y2: 1 }, [0, 1]);
  for (const side of [0, 1]) paint("radialGradient", `stone${side}`, { cx: 0.36, cy: 0.3, r: 0.75 }, [0, 0.5, 1]);
}

// The empty board, with letters and numbers; rows may be counted from the bottom.
export function drawGrid(board, width, height, fromBottom = false) {
  const wide = EDGE + (width - 1) * CELL + FAR, tall = EDGE + (height - 1) * CELL + FAR; // names on two sides alone
  board.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
  drawPaints(board);
  element("rect", { class: "wood", fill: "url(#wood)", width: wide, height: tall, rx: 6 }, board);
  for (let at = 4, step = 0; at < tall; at += 7 + ((step * 5) % 11), step++) { // the grain
    const [up, down] = [(step * 7) % 9, (step * 13) % 10];
    element("path", { class: "grain", d: `M0 ${at}C${wide * 0.3} ${at + up} ${wide * 0.6} ${at - down} ${wide} ${at + up - 4}` }, board);
  }
  const lines = [];
  for (let x = 0; x < width; x++) {
    const at = EDGE + x * CELL;
    lines.push(`M${at} ${EDGE}V${tall - FAR}`);
    element("text", { class: "edge", x: at, y: 12 }, board, letterOf(x));
  }
  for (let y = 0; y < height; y++) {
    const at = EDGE + y * CELL;
    lines.push(`M${EDGE} ${at}H${wide - FAR}`);
    element("text", { class: "edge", x: 9, y: at + 4 }, board, fromBottom ? height - y : y + 1);
  }
  element("path", { class: "cut", d: lines.join("") }, board);
  if (width % 2 && height % 2 && Math.min(width, height) > 6) {
    const marks = [[(width - 1) / 2, (height - 1) / 2]];
    if (Math.min(width, height) > 12) marks.push([3, 3], [width - 4, 3], [3, height - 4], [width - 4, height - 4]);
    for (const mark of marks) {
      const [cx, cy] = centre(mark);
      element("circle", { class: "point", cx, cy, r: 2.8 }, board);
    }
  }
}

// A stone of side 0 (black) or 1 (white); its number and further classes may be left out.
export function drawStone(board, cell, side, number, more = "") {
  const [cx, cy] = centre(cell), group = element("g", { class: more }, board);
  element("circle", { class: "shade", cx: cx + 0.9, cy: cy + 1.7, r: CELL * 0.45 }, group);
  element("circle", { class: `stone stone${side}`, fill: `url(#stone${side})`, cx, cy, r: CELL * 0.45 }, group);
  if (number) element("text", { class: `number on${side}`, x: cx, y: cy + 4 }, group, number);
}

export function drawLast(board, cell) {
  const [cx, cy] = centre(cell);
  element("circle", { class: "last", cx, cy, r: CELL * 0.47 }, board);
}
