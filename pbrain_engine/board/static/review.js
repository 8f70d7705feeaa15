// The review of a game: values as a curve, mistakes, missed and allowed wins.

import { drawCurve, plyAt, valueText } from "./draw.js";
import { Panel, button, find, make, percent } from "./dom.js";
import { SIDES } from "./tree.js";

const MISTAKE = 0.1;

export class ReviewPanel extends Panel {
  constructor(app) {
    super(app, "review");
    this.chart = find("review-curve");
    this.chart.addEventListener("click", (event) => this.jump(plyAt(this.chart, event, this.line.length)));
    this.line = [];
    this.moves = [];
  }

  async begin() {
    const { app } = this, end = app.node.end;
    Object.assign(this, { line: end.path, tree: app.tree, moves: [] });
    this.show();
    this.say("looking…");
    const found = await this.tried(app.ask("review", { seconds: Number(find("review-seconds").value) || 1 }, ({ moves }) => {
      this.moves = moves;
      this.say(`${moves.length} of ${this.line.length} moves`);
      this.show();
    }, end));
    if (!found) return;
    this.moves = found.moves;
    this.annotate();
    this.show();
    this.say(this.sums());
  }

  sums() {
    return [0, 1].map((side) => {
      const own = this.moves.filter((move) => this.node(move).side === side);
      const lost = own.reduce((sum, move) => sum + move.loss, 0) / Math.max(1, own.length);
      const mistakes = own.filter((move) => this.isMistake(move)).length;
      return `${SIDES[side]}: ${mistakes} mistakes, ${(100 * lost).toFixed(1)} % lost a move`;
    }).join(" · ");
  }

  isMistake(move) { return move.loss >= MISTAKE || move.missed_win; }

  // Stones that were set up are plies of the review, not of the line.
  node(move) { return this.line[move.ply - this.tree.start.placed.length - 1]; }

  jump(ply) {
    const node = ply ? this.line[ply - 1] : this.tree?.root;
    if (node && this.tree === this.app.tree) this.app.visit(node);
  }

  show() {
    const points = this.moves.map((move) => {
      const node = this.node(move);
      return [node.ply - 1, node.side ? 1 - move.chance : move.chance];
    });
    drawCurve(this.chart, this.line.length, [["b", points]], this.app.node.ply);
    find("mistakes").replaceChildren(...this.moves.filter((move) => this.isMistake(move) || move.allowed_win).map((move) => this.row(move)));
  }

  onnode() { if (this.line.length && !this.element.hidden) this.show(); }

  remarks(move) {
    const { app } = this, words = [];
    if (this.isMistake(move)) words.push(`lost ${percent(move.loss)}, better ${app.names(move.line.slice(0, 6))}`);
    for (const [what, win] of [["missed", move.missed_win], ["allowed", move.allowed_win]]) {
      if (win) words.push(`${what} a win in ${Math.ceil(win.plies / 2)}${win.proof ? " by " + win.proof.toUpperCase() : ""}: ${app.names(win.line)}`);
    }
    return words;
  }

  row(move) {
    const node = this.node(move), before = node.parent, { app } = this;
    const win = move.missed_win || move.allowed_win;
    return make("li", {},
      button(`${node.ply}. ${app.nameOf(node.cell)}`, () => { if (app.tree === this.tree) app.visit(node); }, { class: "node" }),
      " " + this.remarks(move).join("; ") + " ",
      win ? button("puzzle", () => app.puzzle.fromMistake(this.tree, move.missed_win ? before : node, win), { class: "small", title: "practise this win" }) : "",
    );
  }

  // What was found is written into the game: comments, and better lines as variations.
  annotate() {
    for (const move of this.moves) {
      const node = this.node(move);
      const words = [`value ${valueText(move.value)}, chance ${percent(move.chance)}`, ...this.remarks(move)].join("\n");
      if (!node.comment.includes(words)) node.comment = [node.comment, words].filter(Boolean).join("\n");
      const better = move.missed_win ? move.missed_win.line : move.line;
      if (this.isMistake(move) && String(better[0]) !== String(node.cell)) this.variation(node.parent, better);
      if (move.allowed_win && node.children.length) this.variation(node, move.allowed_win.line);
    }
    this.app.go(this.app.node);
  }

  variation(from, line) {
    let node = from;
    for (const cell of line) node = this.tree.play(node, cell);
  }
}
