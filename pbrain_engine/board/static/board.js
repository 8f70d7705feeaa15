// The board that is played on: stones, marks over them, the mouse, the finger and the keys.

import { Finger } from "./finger.js";
import { SIGNS } from "./moves.js";
import { CELL, EDGE, centre, drawGrid, drawLast, drawStone, element } from "./draw.js";
import { find, isChecked } from "./dom.js";
import { SIDES, isSame } from "./tree.js";
import { t } from "./words.js";

const BADGES = { ...SIGNS, decisive: "!" };

export const SHAPE_SIGNS = {
  five: "5", "open four": "4+", "double four": "4×2", four: "4", "four and three": "4·3", "double three": "3×2", three: "3", overline: "6",
};

export class BoardView {
  constructor(svg, app) {
    Object.assign(this, { svg, app, cursor: null, pointed: null });
    this.finger = new Finger(this);
    svg.addEventListener("click", (event) => {
      if (this.finger.isDone(event)) return; // a touch has been taken for what it is
      const cell = this.cellAt(event);
      if (cell) app.click(cell);
    });
    svg.addEventListener("mousedown", (event) => { // no focus, so that arrow keys step through the moves after a click
      event.preventDefault();
      document.activeElement.blur();
    });
    for (const type of ["pointerenter", "pointermove"]) svg.addEventListener(type, (event) => { // no move where the board comes under a mouse that rests
      if (event.pointerType !== "touch") this.point(this.cellAt(event));
    });
    svg.addEventListener("pointerleave", () => this.point(null));
    // The right button draws a circle, or an arrow from where it was pressed.
    svg.addEventListener("contextmenu", (event) => event.preventDefault());
    svg.addEventListener("pointerdown", (event) => { if (event.button === 2) this.from = this.cellAt(event); });
    svg.addEventListener("pointerup", (event) => { if (event.button === 2) this.endDrawing(this.cellAt(event)); });
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("blur", () => { this.cursor = this.from = null; this.drawGhost(); });
  }

  // From where a drawing was begun, by whatever; null: away with it.
  endDrawing(to) {
    const { from } = this;
    this.from = null;
    if (from && to) this.app.markCells(isSame(from, to) ? [from] : [from, to]);
    this.drawGhost();
  }

  // A circle around a cell, or an arrow to another one.
  drawWay([from, to = from], layer) {
    const [x, y] = centre(from), [u, v] = centre(to), way = Math.atan2(v - y, u - x);
    if (isSame(from, to)) return element("circle", { class: "drawn", cx: x, cy: y, r: CELL * 0.47 }, layer);
    const barb = (turn) => `${u - 11 * Math.cos(way + turn)} ${v - 11 * Math.sin(way + turn)}`;
    return element("path", { class: "drawn", d: `M${x} ${y}L${u} ${v}M${barb(0.5)}L${u} ${v}L${barb(-0.5)}` }, layer);
  }

  placeOf(event) { return new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse()); }

  cellAt(event) {
    const at = this.placeOf(event);
    const x = Math.round((at.x - EDGE) / CELL), y = Math.round((at.y - EDGE) / CELL);
    return x >= 0 && y >= 0 && x < this.width && y < this.height ? [x, y] : null;
  }

  point(cell) {
    if (isSame(cell, this.pointed)) return;
    this.pointed = cell;
    this.app.tell("onpoint", cell);
    this.drawGhost();
  }

  key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) {
      const ends = [this.width - 1, this.height - 1];
      this.cursor = this.cursor?.map((at, axis) => Math.min(Math.max(at + step[axis], 0), ends[axis])) ?? ends.map((end) => end >> 1);
      if (this.from) this.pointed = this.cursor;
      find("spoken").textContent = this.describe(this.cursor);
      this.app.tell("onpoint", this.cursor);
      this.drawGhost();
    } else if ((event.key === "Enter" || event.key === " ") && this.cursor) {
      this.app.click(this.cursor);
    } else if (event.key === "d" && this.cursor) {
      this.pointed = null;
      if (this.from) this.endDrawing(this.cursor);
      else this.from = this.cursor;
      this.drawGhost();
    } else if (event.key === "Escape") {
      this.cursor = this.from = null;
      this.finger.aim(null);
      this.app.tell("onpoint", null);
      this.drawGhost();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  describe(cell) {
    const stone = this.stones.get(String(cell));
    const foul = this.marks.forbidden?.find((mark) => isSame(mark.cell, cell));
    return `${this.app.nameOf(cell)} ${stone || (foul ? t("forbidden", { why: t(`foul ${foul.reason}`) }) : t("empty"))}`;
  }

  draw(marks) {
    const { node, tree } = this.app, { width, height } = tree.start, fromBottom = isChecked("from-bottom"), toMove = tree.toMove(node), places = `${width}x${height} ${fromBottom}`;
    Object.assign(this, { width, height, toMove, marks });
    if (places !== this.places) {
      this.places = places;
      this.drawn = this.marked = "";
      this.svg.replaceChildren();
      drawGrid(this.svg, width, height, fromBottom);
      const [, , wide, tall] = this.svg.getAttribute("viewBox").split(" ");
      this.svg.style.setProperty("--ratio", wide / tall);
      [this.stoneLayer, this.markLayer, this.ghost, this.lens] = ["stones", "marks", "ghost", "lens"].map((name) => element("g", { class: name }, this.svg));
    }
    const drawn = JSON.stringify([tree.stones(node), node.ply, isChecked("numbers")]);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.drawStones();
    }
    const marked = JSON.stringify([marks, toMove, node.ply]);
    if (marked !== this.marked) { // painting is what takes longest
      this.marked = marked;
      this.markLayer.replaceChildren();
      this.drawMarks(marks);
    }
    if (this.finger.aimed && (drawn !== this.aimedAt || !this.app.isFree(this.finger.aimed))) this.finger.aim(null);
    this.drawGhost();
  }

  drawStones() {
    const { node, tree } = this.app, layer = this.stoneLayer, hasNumbers = isChecked("numbers");
    this.stones = new Map();
    layer.replaceChildren();
    tree.stones(node).forEach(({ x, y, side }, at) => {
      const number = Math.max(0, at + 1 - tree.start.placed.length);
      this.drawPiece(layer, [x, y], side, hasNumbers && number);
      this.stones.set(`${x},${y}`, side === "wall" ? t("blocked") : t("stone", { side, number }));
    });
    if (node.cell) drawLast(layer, node.cell);
  }

  drawPiece(layer, cell, side, number, more) {
    if (side !== "wall") return drawStone(layer, cell, SIDES.indexOf(side), number, more);
    const [cx, cy] = centre(cell);
    return element("rect", { class: `wall ${more || ""}`, x: cx - CELL / 2, y: cy - CELL / 2, width: CELL, height: CELL }, layer);
  }

  // What a click would put on a cell.
  drawNext(layer, cell, more) { this.drawPiece(layer, cell, this.app.file.puts || SIDES[this.toMove], "", more); }

  drawMarks(marks) {
    const layer = this.markLayer;
    const ring = (style, cell, r, within = layer) => {
      const [cx, cy] = centre(cell);
      return element("circle", { ...(style && { class: style }), cx, cy, r }, within);
    };
    const write = (style, [x, y], text, within = layer) => element("text", { class: style, x, y: y + 4 }, within, text);
    for (const { cell, reason } of marks.forbidden || []) {
      const [cx, cy] = centre(cell), r = 7;
      const cross = element("path", { class: "foul", d: `M${cx - r} ${cy - r}L${cx + r} ${cy + r}M${cx - r} ${cy + r}L${cx + r} ${cy - r}` }, layer);
      element("title", {}, cross, t(`foul ${reason}`));
    }
    for (const { cell, share } of marks.policy || []) ring("policy", cell, 2 + 9 * Math.sqrt(share));
    for (const { x, y, text } of marks.texts || []) write("shape shape-black", centre([x, y]), text);
    for (const [style, cells, r = 0.4] of [["winning", marks.row, 0.43], ["wins", marks.wins], ["rescue", marks.rescues], ["defence", marks.defences]]) {
      for (const cell of cells || []) ring(style, cell, CELL * r);
    }
    for (const { cell, text, best } of marks.labels || []) {
      const label = element("g", { class: best ? "label best" : "label" }, layer);
      ring("", cell, CELL * 0.45, label);
      write(String(text).length > 2 ? "long" : "", centre(cell), text, label);
    }
    const labelled = new Set((marks.labels || []).map(({ cell }) => String(cell)));
    for (const { cell, makes, side } of marks.shapes || []) { // in a corner where a value is
      const [cx, cy] = centre(cell), both = marks.bothSides ? (side === "black" ? -7 : 7) : 0, small = labelled.has(String(cell));
      element("text", { class: `shape shape-${side}${small ? " small" : ""}`, x: cx + both * (small ? 1.3 : 1), y: cy + (small ? -9 : 4) }, layer, SHAPE_SIGNS[makes] || "");
    }
    for (const cells of marks.drawn || []) this.drawWay(cells, layer);
    (marks.line || []).forEach((cell, at) => drawStone(layer, cell, (this.toMove + at) % 2, this.app.node.ply + 1 + at, "shown"));
    for (const { cell, kind } of marks.badges || []) {
      const [cx, cy] = centre(cell), badge = element("g", { class: `badge ${kind}` }, layer);
      element("circle", { cx: cx + 10, cy: cy - 10, r: 7.5 }, badge);
      element("text", { x: cx + 10, y: cy - 7 }, badge, BADGES[kind]);
    }
  }

  drawGhost() {
    if (!this.ghost || (!this.cursor && !this.pointed && !this.from && !this.ghost.firstChild)) return;
    this.ghost.replaceChildren();
    if (this.from) this.drawWay([this.from, this.pointed || this.from], this.ghost);
    if (this.cursor) {
      const [cx, cy] = centre(this.cursor);
      element("rect", { class: "cursor", x: cx - CELL / 2, y: cy - CELL / 2, width: CELL, height: CELL, rx: 4 }, this.ghost);
    }
    const cell = this.pointed;
    if (!this.from && cell && this.app.isFree(cell) && !this.marks.line?.length) this.drawNext(this.ghost, cell, "faint");
  }

  // The board as a picture that needs no style sheet.
  picture() {
    const viewBox = this.svg.getAttribute("viewBox"), [, , wide, tall] = viewBox.split(" "), from = this.svg.querySelectorAll("*");
    const picture = element("svg", { viewBox, width: 2 * wide, height: 2 * tall, "font-family": "system-ui, sans-serif" });
    picture.append(...[...this.svg.cloneNode(true).children].slice(0, -2)); // without ghost and lens
    picture.querySelectorAll("*").forEach((piece, number) => {
      const style = getComputedStyle(from[number]);
      for (const name of ["fill", "stroke", "stroke-width", "stop-color", "opacity", "font-size", "font-weight", "text-anchor"]) {
        piece.style.setProperty(name, style.getPropertyValue(name));
      }
      piece.removeAttribute("class");
    });
    return new XMLSerializer().serializeToString(picture);
  }
}
