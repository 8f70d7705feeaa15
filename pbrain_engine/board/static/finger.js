// Touches on the board: where cells are small, the first one shows the cell enlarged, and a second
// one on it, or a finger that slides to its cell, plays there. One that stays on a stone, or on the
// cell that is shown, draws.

import { CELL, centre, element } from "./draw.js";
import { isSame } from "./tree.js";
import { t } from "./words.js";

const LARGE = 36; // pixels of a cell that is hit without help
const SLIDE = 250, STAY = 500; // milliseconds; what is quicker was meant to scroll, or to play
const SPAN = 3.6, SCALE = 1.8; // cells in the lens, and how much larger they are

export class Finger {
  constructor(board) {
    this.board = board;
    this.aimed = null; // the cell that is shown enlarged
    this.touch = null; // the finger that is on the board
    for (const type of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) board.svg.addEventListener(type, (event) => this.take(event));
  }

  // Whether a click comes from a touch that is done with.
  isDone(event) { return event.timeStamp - (this.ended ?? -1e4) < 700; }

  take(event) {
    if (event.pointerType !== "touch" || !event.isPrimary) return null;
    const { type, timeStamp: now } = event;
    if (type === "pointerdown") this.begin(event);
    if (!this.touch) return null;
    const { touch } = this, cell = touch.inLens ? touch.from : this.cellAt(event);
    touch.slid ||= !isSame(cell, touch.from);
    if (type !== "pointermove") this.ended = now;
    if (type === "pointerup" || type === "pointercancel") this.touch = null;
    if (touch.draws) return this.touch ? this.board.point(cell) : this.board.endDrawing(type === "pointerup" ? cell : null);
    if (type === "pointerup") {
      const isHit = touch.slid ? now - touch.began > SLIDE : isSame(touch.before, cell) || !this.board.app.isFree(cell);
      if (cell && (this.isLarge || isHit)) {
        this.aim(null);
        return this.board.app.click(cell);
      }
    }
    return this.aim(type === "pointercancel" ? null : cell);
  }

  get isLarge() { return CELL * this.board.svg.getScreenCTM().a >= LARGE; }

  begin(event) {
    const from = this.cellAt(event), { board, aimed: before } = this;
    const touch = { began: event.timeStamp, from, before, inLens: this.isInLens(event), slid: false, draws: false };
    this.touch = touch;
    if (from && (this.isLarge || isSame(before, from) || !board.app.isFree(from))) setTimeout(() => this.draw(touch), STAY);
  }

  // The finger has stayed: a circle, or an arrow to where it slides.
  draw(touch) {
    if (this.touch !== touch || touch.slid) return;
    const { board } = this;
    touch.draws = true;
    touch.inLens = false;
    this.aim(null);
    board.from = touch.from;
    board.app.say(t("key-draw"));
    board.drawGhost();
  }

  isInLens(event) {
    if (!this.aimed) return false;
    const at = this.board.placeOf(event), [x, y] = this.middle, reach = (SPAN * SCALE * CELL) / 2;
    return Math.hypot(at.x - x, at.y - y) < reach;
  }

  cellAt(event) {
    if (!(this.touch ? this.touch.inLens : this.isInLens(event))) return this.board.cellAt(event);
    const at = this.board.placeOf(event), [x, y] = this.middle, step = SCALE * CELL;
    const cell = [this.aimed[0] + Math.round((at.x - x) / step), this.aimed[1] + Math.round((at.y - y) / step)];
    return cell[0] >= 0 && cell[1] >= 0 && cell[0] < this.board.width && cell[1] < this.board.height ? cell : null;
  }

  // Show a cell enlarged, away from the finger; null: none.
  aim(cell) {
    const { board } = this;
    if (isSame(cell, this.aimed)) return;
    const isFree = cell && board.app.isFree(cell);
    this.aimed = isFree ? cell : null;
    board.aimedAt = board.drawn;
    board.lens.replaceChildren();
    board.app.tell("onpoint", this.aimed);
    if (!isFree) return;
    board.app.say(t("touch-again", { cell: board.describe(cell) }));
    const [, , wide, tall] = board.svg.getAttribute("viewBox").split(" ").map(Number);
    const [ax, ay] = centre(cell), side = SPAN * SCALE * CELL, span = SPAN * CELL;
    const x = Math.min(Math.max(ax - side / 2, 0), wide - side);
    const y = ay > tall / 2 ? Math.max(ay - CELL - side, 0) : Math.min(ay + CELL, tall - side);
    this.middle = [x + side / 2, y + side / 2];
    const at = { cx: this.middle[0], cy: this.middle[1], r: side / 2 };
    element("circle", { class: "rim", ...at }, board.lens);
    element("circle", at, element("clipPath", { id: "lens-rim" }, board.lens));
    const inside = element("g", { transform: `translate(${x} ${y}) scale(${SCALE}) translate(${span / 2 - ax} ${span / 2 - ay})` }, element("g", { "clip-path": "url(#lens-rim)" }, board.lens));
    for (const layer of [...board.svg.children]) if (![board.lens, board.ghost].includes(layer) && layer.tagName !== "defs") inside.append(layer.cloneNode(true));
    board.drawNext(inside, cell, "shown");
    element("circle", at, board.lens);
  }
}
