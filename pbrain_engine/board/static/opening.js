// An opening by a rule, such as swap2 or RIF: whose step it is, what it asks for, and what was done.

import { nameOf } from "./draw.js";
import { SIDES, isSame } from "./tree.js";
import { t } from "./words.js";

export class Opening {
  // kept: what the game has of it, the rule, the actions so far, and which player the person is, 0 or 1.
  constructor(play, kept) { Object.assign(this, { play, app: play.app, kept, step: null, picked: [] }); }

  get person() { return this.kept.person; }

  get actions() { return this.kept.actions.split(" ").filter(Boolean); }

  // Whether the person does the next step; both players may be persons, or neither.
  get isPersons() { return this.play.human === "both" || (this.play.human !== "none" && this.step?.player === this.person); }

  ask(what, actions = this.actions, more = {}) { return this.app.ask(what, { rule: this.kept.rule, actions: actions.join(" "), ...more }); }

  // Go on from these actions, whose missing stones are put on the board; a click waits.
  goOn(actions) { return this.asking = this.askStep(actions); }

  async askStep(actions = this.actions) {
    const { app, play } = this, { node } = app;
    this.step = null;
    const step = await this.ask("opening", actions);
    if (play.opening !== this || app.node !== node) return;
    if (step.error) play.leaveOpening(`${step.error}. `);
    else this.take(step);
  }

  // The next step is known; said: what Numoku did.
  take(step, said = "") {
    const { app, play } = this;
    play.report.textContent = said;
    for (const cell of step.stones.slice(app.node.ply)) app.playCell(cell);
    Object.assign(this, { step, picked: [] });
    this.kept.actions = step.actions.join(" ");
    if (play.isDuel) play.match.human = SIDES[Number(step.black !== this.person)];
    if (!step.act) {
      play.settle();
      return;
    }
    app.choose(this.isPersons ? this.choices() : [], this.state());
    app.draw();
    if (!this.isPersons) this.decide();
  }

  async decide() {
    const { play } = this, { player } = this.step;
    const step = await play.consult("opening_step", { ...this.kept, seconds: Number(play.match.seconds) || 5 });
    if (!step || play.opening !== this) return;
    const last = step.words.at(-1), side = SIDES[Number(step.black !== player)];
    const said = Number(last) ? t("numoku-count", { n: Number(last) }) : ["swap", "keep"].includes(last) && play.human !== "none" ? t("numoku-takes", { side }) : "";
    this.take(step, said);
  }

  // What the step asks of whom.
  state() {
    const { step, picked } = this;
    if (!step) return t(this.app.server.about ? "looking" : "loading-game");
    if (!this.isPersons) return t("thinking");
    const side = SIDES[step.stones.length % 2], n = step.stones.length + 1;
    if (step.act === "put") return t({ null: "put-anywhere", 0: "put-centre" }[step.reach] ?? "put-central", { n, side, size: 2 * step.reach + 1 });
    if (step.act === "branch" && step.branches.includes("two")) return t("choose-three");
    return t({ swap: "choose-two", branch: "ask-branch", count: "ask-count", choose: "ask-choose", offer: "ask-offer" }[step.act], { n: step.wanted, done: picked.length });
  }

  // Buttons for what is no stone.
  choices() {
    const { act, low, high, branches, takes } = this.step;
    const word = (name, text) => [text, () => this.goOn([...this.actions, name])];
    const sides = () => SIDES.map((side) => word(takes[side], t("play-side", { side })));
    if (act === "swap") return sides();
    if (act === "count") return Array.from({ length: high - low + 1 }, (_, at) => word(String(low + at), String(low + at)));
    if (act !== "branch") return [];
    return [...(branches.includes("swap") ? sides() : []), ...branches.filter((name) => !["keep", "swap"].includes(name)).map((name) => word(name, t(`branch-${name}`)))];
  }

  // Why no stone goes there, or that a click was something else.
  refuses(cell) {
    const { step } = this;
    if (!step || !this.isPersons || !step.cells.length) return this.state();
    if (step.act !== "offer") return this.allows(cell) ? null : this.state();
    if (!this.allows(cell) && !this.isPicked(cell)) return t("twin");
    this.pick(cell);
    return this.state();
  }

  isPicked(cell) { return this.picked.some((one) => isSame(one, cell)); }

  allows(cell) { return this.step.cells.some((one) => isSame(one, cell)); }

  played(node) { return this.goOn([...this.actions, nameOf(node.cell)]); }

  // Offer a fifth stone, or take the offer back.
  async pick(cell) {
    const picked = this.isPicked(cell) ? this.picked.filter((one) => !isSame(one, cell)) : [...this.picked, cell];
    const words = picked.map((one) => nameOf(one)).join("+"), { step } = this;
    if (picked.length === step.wanted) return this.goOn([...this.actions, words]);
    const now = await this.ask("opening", this.actions, { picked: words });
    if (this.step !== step || now.error) return null;
    Object.assign(this, { picked, step: now });
    this.app.unsay();
    return this.app.draw();
  }

  marks() {
    if (!this.step) return {};
    const cells = this.step.act === "choose" ? this.step.cells : this.picked;
    return { labels: cells.map((cell, at) => ({ cell, text: String.fromCharCode(65 + at) })) };
  }

  // The person has gone to another move: a stone of his own may be put elsewhere there.
  async moved(node) {
    const { done, stones = [], act } = this.step || {};
    if (node.ply === stones.length + 1 && act === "put" && this.isPersons && this.allows(node.cell)) return this.played(node); // by Redo
    const at = done ? done.findLastIndex(({ stones }) => stones === node.ply) : -1;
    if (at < 0 || (done[at].player !== this.person && this.play.human !== "both") || !/^[a-v]\d+$/.test(this.actions[at])) return this.play.leaveOpening();
    return this.goOn(this.actions.slice(0, at));
  }

  // The person's last step is gone, and what followed.
  takeBack() {
    const { app, step } = this, at = step ? step.done.findLastIndex(({ player }) => this.play.human === "both" || player === this.person) : -1;
    if (at < 0) return app.say(t("nothing-back"));
    let { node } = app;
    while (node.ply > step.done[at].stones) node = node.parent;
    this.step = null;
    const gone = node.children[0];
    if (gone) app.tree.remove(gone);
    if (node !== app.node) app.go(node);
    return this.goOn(this.actions.slice(0, at));
  }
}
