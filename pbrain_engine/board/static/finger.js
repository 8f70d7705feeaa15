// Touches on the board: where cells are small, the first one shows the cell enlarged, and a second
// one on it, or a finger that slides to its cell, plays there.

import { CELL, centre, drawStone, element } from "./draw.js";
import { isSame } from "./tree.js";
import { t } from "./words.js";

const LARGE = 36; // pixels of a cell that is hit without help
const SLIDE = 250; // milliseconds; what is quicker was meant to scroll
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
    if (event.pointerType !== "touch" || !event.isPrimary) return;
    const { type, timeStamp: now } = event;
    if (type === "pointerdown") this.touch = { began: now, from: this.cellAt(event), before: this.aimed, inLens: this.isInLens(event), slid: false };
    if (!this.touch) return;
    const { touch } = this, cell = touch.inLens ? touch.from : this.cellAt(event);
    touch.slid ||= !isSame(cell, touch.from);
    if (type === "pointerup") {
      this.touch = null;
      this.ended = now;
      const isLarge = CELL * this.board.svg.getScreenCTM().a >= LARGE;
      const isSecond = !touch.slid && isSame(touch.before, cell);
      if (cell && (isLarge || isSecond || (touch.slid && now - touch.began > SLIDE))) {
        this.aim(null);
        this.board.app.click(cell);
        return;
      }
    }
    this.aim(type === "pointercancel" ? null : cell);
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
    drawStone(inside, cell, board.toMove, "", "shown");
    element("circle", at, board.lens);
  }
}
