// An opening by a rule, such as swap2 or RIF: whose step it is, what it asks for, and what was done.

import { nameOf } from "./draw.js";
import { SIDES, isSame } from "./tree.js";
import { t } from "./words.js";

export class Opening {
  // kept: what the game has of it, the rule, the actions so far, and which player the person is, 0 or 1.
  constructor(play, kept) { Object.assign(this, { play, app: play.app, kept, step: null, picked: [] }); }

  // The colour of who does the next step.
  get side() { return Number(this.step.black !== this.step.player); }

  // Whether the person does the next step; both players may be persons, or neither.
  get isPersons() { return Boolean(this.step?.act) && this.isOwn(this.step); }

  isOwn({ player }) { return this.play.human === "both" || (this.play.isDuel && player === this.kept.person); }

  ask(actions, picked = "") { return this.app.ask("opening", { rule: this.kept.rule, actions, picked }); }

  // Go on after these actions, or look back at them; a click waits.
  goOn(actions = this.kept.actions) { return this.asking = this.askStep(actions); }

  act(word) { return this.goOn([...this.step.actions, word].join(" ")); }

  async askStep(actions) {
    const { app, play } = this, { node } = app;
    this.step = null;
    const step = await this.ask(actions);
    if (play.opening !== this || app.node !== node) return;
    if (step.error) play.leaveOpening(`${step.error}. `);
    else this.take(step);
  }

  // The step of the position is known; said: what Numoku did.
  take(step, said = "") {
    const { app, play } = this, { act, isBack } = step;
    play.report.textContent = said;
    for (const cell of step.stones.slice(app.node.ply)) app.playCell(cell);
    if (!isBack) this.kept.actions = step.actions.join(" ");
    Object.assign(this, { step, picked: [] });
    if (play.isDuel) play.match.human = SIDES[Number(step.black !== this.kept.person)];
    play.nameSides();
    if (!act && !isBack) return play.settle();
    app.message = null;
    app.choose(this.isPersons ? this.choices() : [], this.state());
    app.draw();
    return isBack || play.match.paused || this.isPersons || this.decide();
  }

  async decide() {
    const { play } = this, { player } = this.step;
    const step = await play.consult("opening_step", { ...this.kept, seconds: Number(play.match.seconds) || 5 });
    if (!step || play.opening !== this) return;
    const side = SIDES[Number(step.black !== player)];
    this.take(step, ["swap", "keep"].includes(step.words.at(-1)) && play.human !== "none" ? t("numoku-takes", { side }) : play.report.textContent);
  }

  // What the step asks of whom.
  state() {
    const { step, picked } = this;
    if (!step) return t(this.app.server.about ? "looking" : "loading-game");
    if (!this.isPersons) return this.play.human !== "both" && t(this.play.thinking ? "thinking" : "engine-to-move");
    const side = SIDES[step.stones.length % 2], n = step.stones.length + 1;
    if (step.act === "put") return t({ null: "put-anywhere", 0: "put-centre" }[step.reach] ?? "put-central", { n, side, size: 2 * step.reach + 1 });
    const name = step.act === "branch" && step.options[2] ? "choose-three" : `ask-${step.act}`;
    const count = step.act === "swap" && step.actions.find(Number), who = this.play.isDuel ? "" : `${t(SIDES[this.side])}: `;
    return (count ? `${t("numoku-count", { n: count })} ` : "") + who + t(name, { n: step.wanted, done: picked.length });
  }

  // Buttons for what is no stone.
  choices() {
    return this.step.options.map(([word, side]) => [side ? t("play-side", { side }) : Number(word) ? word : t(`branch-${word}`), () => this.act(word)]);
  }

  // Why no stone goes there, or that a click was something else.
  refuses(cell) {
    const { step } = this;
    if (step && !this.isPersons && !this.play.thinking) return null; // a stone of Numoku is looked back at
    if (!this.isPersons || !step.cells.length) return this.state();
    if (step.act !== "offer") return this.allows(cell) ? null : this.state();
    if (!this.allows(cell) && !this.isPicked(cell)) return t("twin");
    this.asking = this.pick(cell);
    return this.state();
  }

  isPicked(cell) { return this.picked.some((one) => isSame(one, cell)); }

  allows(cell) { return this.step.cells.some((one) => isSame(one, cell)); }

  played(node) {
    if (!this.isPersons) return this.play.leaveOpening();
    this.app.tree.promote(node);
    return this.act(nameOf(node.cell));
  }

  // Offer a fifth stone, or take the offer back.
  async pick(cell) {
    const picked = this.isPicked(cell) ? this.picked.filter((one) => !isSame(one, cell)) : [...this.picked, cell];
    const words = picked.map((one) => nameOf(one)).join("+"), { step } = this;
    if (picked.length === step.wanted) return this.act(words);
    const now = await this.ask(step.actions.join(" "), words);
    if (this.step !== step || now.error) return null;
    Object.assign(this, { picked, step: now });
    this.app.message = null;
    return this.app.draw();
  }

  marks() {
    if (!this.step) return {};
    const cells = this.step.act === "choose" ? this.step.cells : this.picked;
    return { labels: cells.map((cell, at) => ({ cell, text: String.fromCharCode(65 + at) })) };
  }

  // The person's last step is gone, and what followed.
  takeBack() {
    const { app, step } = this, at = step ? step.done.findLastIndex((one) => this.isOwn(one)) : -1;
    if (at < 0) return app.say(t("nothing-back"));
    this.play.cancel();
    const node = [app.tree.root, ...app.node.path].slice(0, step.done[at].stones + 1).at(-1), gone = node.children[0];
    this.step = null;
    if (gone) app.tree.remove(gone);
    if (node !== app.node) app.go(node);
    return this.goOn(step.actions.slice(0, at).join(" "));
  }
}
