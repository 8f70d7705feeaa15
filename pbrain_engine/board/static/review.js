// The review of a game: what each move has lost, how well both have played, and another try.

import { Panel, button, find, make, refill } from "./dom.js";
import { SIGNS } from "./moves.js";
import { SIDES, isSame } from "./tree.js";
import { percent, t } from "./words.js";

const KNOWN = 0.05; // chance by which another move may be worse than the best one
const SECONDS = 1;

export class ReviewPanel extends Panel {
  name = "review";
  line = []; // the moves of the game, which have what is said of them

  async begin() {
    const { app } = this, end = app.node.end;
    app.openTab(this.name);
    if (app.isQuiet) return this.say(t("quiet"));
    if (app.proof.running) app.proof.halt(app.node); // else it would wait
    Object.assign(this, { line: end.path, tree: app.tree, done: null });
    for (const node of this.line) Object.assign(node, { review: null, after: null });
    this.say(t("looking"));
    find("review-stop").hidden = false;
    const found = await this.tried(app.ask("review", { seconds: Number(find("review-seconds").value) || 1 }, ({ moves }) => {
      this.take(moves);
      this.say(t("review-at", { n: moves.length, all: this.line.length }));
    }, end));
    find("review-stop").hidden = true;
    if (!found) return;
    this.finish(found);
    this.annotate();
  }

  finish(found) {
    this.done = found;
    this.take(found.moves);
    this.say(this.mistakes.length ? t("mistakes-are", { n: this.mistakes.length }) : t("no-mistakes"));
  }

  // What a reload needs of a review of the game that is kept, and its coming back.
  get kept() { return this.done && this.tree === this.app.game.tree ? { found: this.done, end: this.tree.nodes().indexOf(this.line.at(-1)) } : null; }

  restore({ found, end }) {
    const { tree } = this.app.game, node = tree.nodes()[end];
    if (!node) return;
    Object.assign(this, { tree, line: node.path });
    this.finish(found);
  }

  // What is known so far: to the moves, and to the chances before and after them.
  take(moves) {
    const { placed } = this.tree.start; // plies of the review, not of the line
    for (const move of moves) {
      const node = this.line[move.ply - placed.length - 1];
      node.review = { ...move, decisive: this.done?.decisive === move.ply };
      node.parent.after = node.side ? 1 - move.chance : move.chance;
    }
    if (this.done) this.line.at(-1).after = this.done.chances.at(-1);
    this.show();
    this.app.moves.show();
    this.app.draw();
  }

  get mistakes() { return this.line.filter(({ review }) => review && (SIGNS[review.kind] || review.allowed_win || review.decisive)); }

  get slips() { return this.line.filter(({ review }) => SIGNS[review?.kind]); }

  get isHere() { return this.line.length > 0 && this.tree === this.app.tree; }

  refresh() { find("next-mistake").hidden = !this.isHere || !this.slips.length || this.app.isQuiet; }

  // The next mistake after the move that is looked at.
  next() {
    if (!this.isHere) return;
    const { slips } = this;
    this.app.visit(slips.find((node) => node.ply > this.app.node.ply) || slips[0]);
  }

  show() {
    const { app } = this;
    find("review-tools").hidden = !this.done || !this.slips.length;
    find("marks").replaceChildren(...(this.done ? SIDES.flatMap((side) => this.marksOf(side)) : []));
    refill(find("mistakes"), this.mistakes.map((node) => [[node.ply, app.nameOf(node.cell), node.review.kind, this.remarks(node)], () => this.row(node)]));
  }

  // How well a side has played.
  marksOf(side) {
    const accuracy = this.done.accuracy[side], counts = this.done.counts[side];
    return [make("div", { class: "who" }, make("i", { class: `disc ${side}` }), t(side)),
      make("div", {}, make("strong", {}, accuracy === null ? "–" : percent(accuracy / 100)), make("small", {}, t("accuracy"))),
      ...Object.keys(SIGNS).map((kind) => make("div", { class: kind }, make("strong", { class: "sign" }, String(counts[kind])),
        make("small", {}, t(`${kind}-count`, { n: counts[kind] }))))];
  }

  remarks({ review: move }) {
    const { app } = this, words = [];
    if (move.decisive) words.push(t("decisive"));
    if (move.foul) words.push(t("forbidden-move"));
    else if (SIGNS[move.kind] && !move.missed_win) words.push(t("lost-chance", { loss: percent(move.loss), line: app.names(move.line.slice(0, 6)) }));
    for (const [what, win] of [["missed-win", move.missed_win], ["allowed-win", move.allowed_win]]) {
      if (win) words.push(t(what, { n: Math.ceil(win.plies / 2), line: app.names(win.line) }));
    }
    return words;
  }

  row(node) {
    const { app } = this, { ply, cell, review: move } = node, win = move.missed_win || move.allowed_win;
    const now = () => this.line[ply - 1]; // in the review that is there when it is pressed
    const visit = () => {
      if (this.isHere) app.visit(now());
      scrollTo(0, 0); // where the board is, on a telephone
    };
    return make("li", { class: move.kind },
      button(`${ply}. ${app.nameOf(cell)}`, visit, { class: "node" }),
      make("span", { class: "sign" }, SIGNS[move.kind] || ""), ` ${this.remarks(node).join("; ")} `,
      win ? button(t("to-puzzle"), () => app.puzzle.fromMistake(move.missed_win ? now().parent : now(), win), { class: "small" }) : "",
    );
  }

  // What was found is written into the game: a comment at each mistake, better lines as variations.
  annotate() {
    for (const node of this.line.filter(({ review }) => review)) {
      const { review: move } = node, remarks = this.remarks(node);
      const words = remarks.length ? [`${SIGNS[move.kind] || ""} ${t("worth", { chance: percent(move.chance) })}`.trim(), ...remarks].join("\n") : "";
      const own = node.notes.reviewed ? node.comment.replace(node.notes.reviewed, "").trim() : node.comment; // of a review before
      node.comment = [own, words].filter(Boolean).join("\n");
      node.notes.reviewed = words || undefined;
      if (!words) continue;
      const better = move.missed_win ? move.missed_win.line : move.line;
      if (SIGNS[move.kind] && !isSame(better[0], node.cell)) this.tree.playLine(node.parent, better);
      if (move.allowed_win && node.children.length) this.tree.playLine(node, move.allowed_win.line);
    }
    this.app.go(this.app.node);
  }

  marks() {
    const { app } = this;
    if (!this.isHere || app.isQuiet) return null;
    const seen = app.node.path.filter(({ review }) => SIGNS[review?.kind] || review?.decisive);
    const badges = seen.map(({ review, cell }) => ({ cell, kind: SIGNS[review.kind] ? review.kind : "decisive" }));
    if (app.tab !== this.name) return { badges };
    const { review } = app.node;
    return { badges, labels: review && SIGNS[review.kind] && !review.foul ? [{ cell: review.best, text: "✓", best: true }] : [] };
  }
}

// Learning from one's mistakes: find a better move before it is shown.
export class Lesson {
  constructor(app) { Object.assign(this, { app, review: app.review, name: "lesson", isQuiet: true }); }

  begin() {
    const slips = this.review.slips.filter((node) => !node.review.foul);
    const own = slips.filter(({ side }) => !/^Numoku( |$)/.test(this.review.tree.names[SIDES[side]]));
    this.show(own.length ? own : slips, 0);
  }

  // What a reload in the middle of a lesson needs; the review is kept, too.
  get kept() { return { plies: this.todo.map(({ ply }) => ply), at: this.at }; }

  restore({ plies, at }) { this.show(this.review.slips.filter(({ ply }) => plies.includes(ply)), at); }

  // The position before a mistake, in the place of the game.
  show(todo, at) {
    const { app, review } = this, node = todo[at];
    Object.assign(this, { todo, at });
    if (!node) return this.leave();
    this.move = node.review;
    this.over = this.busy = false;
    app.lend(review.tree.upTo(node.parent), () => app.setGuide(this));
    app.choose(this.buttons(), t("find-better", { cell: app.nameOf(node.cell), side: SIDES[node.side] }));
  }

  buttons(isOver) {
    const next = [t(this.at + 1 < this.todo.length ? "next" : "finish"), () => this.show(this.todo, this.at + 1)];
    return isOver ? [next] : [[t("solution"), () => this.solve()], next, [t("leave"), () => this.leave()]];
  }

  leave() {
    this.app.giveBack();
    this.app.openTab("review");
  }

  state() { return t("your-move", { side: this.app.mover }); }

  refuses() { return this.busy ? t("looking") : this.over ? t("choose-first") : null; }

  solve() {
    const { app, move } = this;
    this.over = true;
    app.line = (move.missed_win?.line || move.line).slice(0, 7);
    app.choose(this.buttons(true), t("best-was", { cell: app.nameOf(app.line[0]) }));
    app.draw();
  }

  // Is the move as good as the best one, or nearly so?
  async played(node) {
    const { app, move } = this;
    if (this.over || this.busy) return;
    let isGood = isSame(node.cell, move.best);
    if (!isGood) {
      this.busy = true;
      const found = await app.ask("analyse", { time: SECONDS }, null, node);
      this.busy = false;
      if (app.guide !== this || app.node !== node) return;
      const keeps = () => (move.missed_win ? found.mate !== null && found.mate < 0 : move.chance - (1 - found.chance) < KNOWN);
      isGood = node.facts?.winner ? node.facts.winner === SIDES[node.side] : !found.error && keeps();
    }
    this.over = isGood;
    if (!isGood) app.go(app.tree.remove(node));
    app.choose(this.buttons(isGood), isGood ? t("well-found") : t("try-again", { cell: app.nameOf(node.cell) }));
  }
}
