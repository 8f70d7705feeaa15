// The puzzle trainer: find the win against the longest defence, or the move that stops one.

import { Panel, fillList, find } from "./dom.js";
import { remember, remembered } from "./kept.js";
import { GameTree, SIDES, isSame } from "./tree.js";
import { t } from "./words.js";

const KINDS = ["vcf", "vct", "win", "defend"];
const LEVELS = 5; // moves to the win, and more
const SECONDS = 1; // to answer a move
const SHOWN = 9; // moves of a refutation
const MOST = 5000; // puzzles of a file

export class PuzzlePanel extends Panel {
  name = "puzzle";
  isQuiet = true; // no analysis while a puzzle is on the board
  list = find("puzzle-list");
  shipped = [];
  own = remembered("puzzles", []);
  solved = new Set(remembered("solved", []));
  streak = remembered("streak", 0);
  at = -1;

  constructor(app) {
    super(app);
    fillList(find("difficulty"), [["all", t("all")], ...Array.from({ length: LEVELS }, (_, at) => [at + 1, t(at + 1 < LEVELS ? "win-in" : "win-in-more", { n: at + 1 })]), ["defend", t("defences")]]);
  }

  // Those of the difficulty that was chosen; own mistakes come first.
  get puzzles() {
    const wanted = find("difficulty").value;
    return [...this.own, ...this.shipped].filter(({ kind, own_moves: moves }) => wanted === "all" || (wanted === "defend" ? kind === "defend" : kind !== "defend" && Math.min(moves || LEVELS, LEVELS) === Number(wanted)));
  }

  // Puzzles come when they are looked at for the first time.
  async onopen() {
    this.fill();
    if (this.shipped.length) return;
    this.shipped = (await this.app.server.ask("puzzles")).puzzles || [];
    this.fill();
    if (this.isWanted && this.app.tab === this.name) this.next();
  }

  fill() {
    const { puzzles } = this;
    fillList(this.list, puzzles.map((puzzle, number) => [number, `${this.solved.has(puzzle.id) ? "✓ " : ""}${number + 1}. ${this.taskOf(puzzle)}`]));
    if (this.at >= 0) this.list.value = this.at;
    find("streak").textContent = this.streak;
    remember("streak", this.streak);
  }

  // Another list, of which none is chosen.
  anew() {
    this.at = -1;
    this.fill();
  }

  taskOf({ to_move: side, own_moves: moves, kind }) {
    const what = kind === "defend" ? "task-defend" : moves === 1 ? "task-five" : "task";
    return t(what, { side, n: moves || "?", how: t(kind) });
  }

  get task() { return this.taskOf(this.puzzle); }

  async load(file) {
    try {
      const puzzles = (await file.text()).split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
      this.shipped = puzzles.filter((puzzle) => KINDS.includes(puzzle.kind) && this.startOf(puzzle)).slice(0, MOST);
    } catch (error) {
      return this.say(t("no-puzzle-file", { why: error.message }));
    }
    find("difficulty").value = "all";
    this.anew();
    return this.say(t("puzzles-read", { n: this.shipped.length }));
  }

  startOf(puzzle) {
    const placed = SIDES.flatMap((side) => puzzle[side].map(([x, y]) => ({ x, y, side })));
    return { width: puzzle.size, height: puzzle.size, rule: puzzle.rule, placed, first: puzzle.to_move };
  }

  begin(number) {
    const puzzle = this.puzzles[number];
    if (!puzzle) return;
    this.at = Number(number);
    this.list.value = number;
    this.start(puzzle);
  }

  start(puzzle = this.puzzle) {
    this.restore({ puzzle }, new GameTree(this.startOf(puzzle)).root);
    this.app.openTab("puzzle");
  }

  next() {
    const { puzzles } = this;
    this.isWanted = !puzzles.length;
    if (this.isWanted) return this.say(t(this.app.server.about ? "no-puzzle" : "link-lost-why"));
    const open = puzzles.findIndex((puzzle, number) => number > this.at && !this.solved.has(puzzle.id));
    return this.begin(open >= 0 ? open : (this.at + 1) % puzzles.length);
  }

  // The game that was on the board before comes back.
  leave() {
    this.app.giveBack();
    this.say(t("puzzle-choose"));
  }

  // What a reload in the middle of a puzzle needs.
  get kept() { return { puzzle: this.puzzle }; }

  restore({ puzzle }, node) {
    const { app } = this;
    app.lend(node, () => {
      Object.assign(this, { puzzle, failed: false, over: false, busy: false });
      app.setGuide(this);
      this.say(this.task);
      // The proof is found while the person thinks, so that a move can be answered at once.
      this.proof = puzzle.kind === "defend" ? null : app.ask("prove", { seconds: 10 }, null, node.tree.root);
    });
  }

  // The last attack and its answer are gone.
  takeBack() {
    const { app } = this, { path } = app.node, gone = path.findLast(({ side }) => side === this.attacker) ?? path[0];
    if (!gone || this.busy) return;
    this.over = false;
    app.go(app.tree.remove(gone));
    this.say(this.task);
  }

  get attacker() { return SIDES.indexOf(this.puzzle.to_move); }

  say(text) {
    super.say(text);
    if (this.app.guide === this) this.app.draw(); // with these words below the board
  }

  state() { return this.status.textContent; }

  refresh() {
    const { app } = this;
    for (const name of ["again", "solution"]) find(`puzzle-${name}`).hidden = !this.puzzle;
    for (const piece of document.querySelectorAll("[data-does=leave]")) piece.hidden = !app.away;
  }

  // What holds, when it is out.
  marks() { return this.app.guide === this && this.over && this.puzzle.kind === "defend" ? { rescues: this.holding } : null; }

  get holding() { return this.puzzle.moves || this.puzzle.best; }

  refuses() { return this.busy ? t("defending") : this.over ? this.state() : null; }

  moved() {
    this.over = false;
    this.say(this.task);
  }

  // The person has attacked: the program defends as long as it can, or says what refutes it.
  async played(node) {
    const { app } = this;
    if (app.tree.toMove(node) === this.attacker) return;
    this.busy = true;
    const facts = await app.look(node);
    if (this.puzzle.kind === "defend") await this.judge(node);
    else if (facts?.winner === this.puzzle.to_move) this.won();
    else if (facts?.winner) this.fail(t("wins", { side: facts.winner }));
    else if (facts) await this.defend();
    this.busy = false;
    app.draw();
  }

  fail(words) {
    if (!this.failed) this.streak = 0;
    this.failed = true;
    this.fill();
    this.say(words);
  }

  // A defence holds where it is one of those that were found to.
  async judge(node) {
    const { app } = this;
    if (this.holding.some((cell) => isSame(cell, node.cell))) return this.won();
    const found = await this.here("prove", { seconds: SECONDS });
    if (!found) return null;
    this.fail(t(found.move ? "refuted" : "not-it", { line: app.names((found.line || []).slice(0, SHOWN)) }));
    app.line = (found.line || []).slice(0, SHOWN);
    return null;
  }

  async defend() {
    const { app } = this;
    this.say(t("defending"));
    app.server.stop(this.proof.id);
    const found = await this.here("reply", { seconds: SECONDS });
    if (!found) return;
    app.playCell(found.move);
    const line = app.names(found.line.slice(0, SHOWN));
    if (found.state === "lost") this.say(t("still-won", { n: found.length }));
    else {
      this.fail(t(found.state === "escaped" ? "refuted" : "no-win-seen", { line }));
      app.line = found.line.slice(1, SHOWN);
    }
    const after = await app.look(app.node);
    if (!after?.winner) return;
    this.over = true;
    this.fail(t("wins", { side: after.winner }));
  }

  won() {
    this.over = true;
    if (!this.failed && !this.solved.has(this.puzzle.id)) this.streak += 1;
    this.solved.add(this.puzzle.id);
    remember("solved", [...this.solved]);
    this.fill();
    this.say(t(this.failed ? "solved-later" : "solved"));
  }

  // The solution is a proof to walk through; that of a defence the moves that hold.
  solve() {
    const { app } = this;
    if (!this.over) this.streak = 0;
    this.fill();
    if (this.puzzle.kind === "defend") {
      this.start();
      this.failed = this.over = true;
      return this.say(t("holds", { cells: app.names(this.holding, ", ") }));
    }
    app.lend(new GameTree(this.startOf(this.puzzle)).root);
    return app.proof.begin();
  }

  // A win that was missed or allowed in a game.
  fromMistake(node, { plies, line, proof: kind = "win" }) {
    const { tree } = node, { width: size, height, rule } = tree.start, stones = { black: [], white: [], wall: [] };
    for (const { x, y, side } of tree.stones(node)) stones[side].push([x, y]);
    if (size !== height || stones.wall.length) return this.app.say(t("puzzle-square"), true);
    const { black, white } = stones, id = JSON.stringify([size, rule, black, white]);
    const puzzle = { id, size, rule, black, white, to_move: SIDES[tree.toMove(node)], kind, best: line.slice(0, 1), line, own_moves: Math.ceil(plies / 2) };
    this.own = [puzzle, ...this.own.filter((other) => other.id !== id)].slice(0, 200);
    remember("puzzles", this.own);
    find("difficulty").value = "all";
    this.fill();
    return this.begin(0);
  }
}
