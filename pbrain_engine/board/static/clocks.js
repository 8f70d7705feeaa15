// The clocks of both sides: main time, what each move adds, and periods of byoyomi after that.

import { find } from "./dom.js";
import { SIDES } from "./tree.js";
import { t } from "./words.js";

const LOW = 10, ROUNDING = 1e-9;

export class Clocks {
  constructor(play) {
    Object.assign(this, { play, app: play.app, since: null }); // since: when time was last charged
    setInterval(() => this.tick(), 100);
  }

  of(name) { return Number(this.play.match[name]) || 0; }

  // Seconds of both sides; without what moves have added, and what a period of byoyomi forgives.
  get used() { return this.play.match.used; }

  begin() { Object.assign(this, { since: performance.now(), turn: this.app.tree.toMove(this.app.node) }); }

  end() {
    this.charge();
    this.since = null;
    this.show();
  }

  // Charge the time since the last call to the side whose turn it was.
  charge() {
    if (this.since === null) return;
    const now = performance.now();
    if (this.isRunning) this.used[this.turn] += (now - this.since) / 1000;
    this.since = now;
    this.turn = this.app.tree.toMove(this.app.node);
  }

  // A move was made: its side gets what that adds, or a period of byoyomi begins anew.
  press() {
    const side = 1 - this.app.tree.toMove(this.app.node), wasRunning = this.isRunning;
    this.charge();
    if (!wasRunning) return;
    if (this.of("byoyomi") && this.used[side] > this.bank) this.used[side] = this.bank + this.of("byoyomi") * Math.min(this.lost(side), this.periods - 1);
    else this.used[side] -= this.of("increment");
  }

  // The clocks begin when the sides are settled, and stand still while the engine is not there.
  get isRunning() { return this.app.guide === this.play && this.play.isOn && !this.play.opening && !this.play.match.paused && Boolean(this.app.server.about); }

  get bank() { return 60 * this.of("minutes"); }

  get periods() { return this.of("periods") || 1; } // none in games of earlier releases

  get isLimited() { return this.bank > 0 || this.of("byoyomi") > 0; }

  // How many periods of byoyomi a side has used up.
  lost(side) { return Math.floor(Math.max(0, this.spent(side) - this.bank) / this.of("byoyomi") + ROUNDING); }

  // Of the main time, else of the period; 0 or less when all is gone.
  left(side) {
    const left = this.bank - this.spent(side), each = this.of("byoyomi");
    return left > 0 || !each ? left : left + each * Math.min(this.lost(side) + 1, this.periods);
  }

  spent(side) {
    return this.used[side] + (this.isRunning && this.turn === side ? (performance.now() - this.since) / 1000 : 0);
  }

  // What Numoku may take for its move.
  limit(side) {
    if (!this.isLimited) return { seconds: this.of("seconds") || 5 };
    const left = Math.max(0, this.bank - this.spent(side)), byoyomi = left ? this.of("byoyomi") : Math.max(0, this.left(side));
    return { clock: { left, increment: left && this.of("increment"), byoyomi } };
  }

  tick() {
    if (this.app.guide !== this.play || this.since === null) return;
    if (!this.isRunning) this.since = performance.now();
    this.show();
    if (!this.isRunning || !this.isLimited || this.left(this.turn) > 0) return;
    this.play.finish(t("on-time", { side: SIDES[1 - this.turn] }), SIDES[1 - this.turn]);
  }

  show() {
    const isShown = this.app.guide === this.play && this.since !== null;
    SIDES.forEach((name, side) => {
      const clock = find(`${name}-clock`), isRunning = isShown && this.isRunning && this.turn === side;
      const seconds = Math.max(0, this.isLimited ? Math.ceil(this.left(side)) : this.spent(side));
      const periods = this.of("byoyomi") && this.periods > 1 ? ` ×${Math.max(0, this.periods - this.lost(side))}` : "";
      const text = isShown ? `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}${periods}` : "";
      if (clock.textContent !== text) clock.textContent = text;
      clock.classList.toggle("running", isRunning);
      clock.classList.toggle("low", isRunning && this.isLimited && seconds < LOW);
    });
  }
}
