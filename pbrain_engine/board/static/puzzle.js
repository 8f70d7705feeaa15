// The puzzle trainer: find the win, against the longest defence.

import { Panel, find, make, remember, remembered } from "./dom.js";
import { GameTree, SIDES } from "./tree.js";

const KINDS = { vcf: "by fours only", vct: "by fours and threes", win: "by whatever wins" };
const SECONDS = 1; // to answer a move
const SHOWN = 9; // moves of a refutation

export class PuzzlePanel extends Panel {
  constructor(app) {
    super(app, "puzzle");
    this.isQuiet = true; // no analysis while a puzzle is on the board
    this.list = find("puzzle-list");
    this.list.addEventListener("change", () => this.begin(Number(this.list.value)));
    find("puzzle-file").addEventListener("change", ({ target }) => this.load(target.files[0]));
    this.shipped = [];
    this.own = remembered("puzzles", []);
    this.solved = new Set(remembered("solved", []));
    this.at = -1;
  }

  get puzzles() { return [...this.own, ...this.shipped]; }

  async onserver() {
    if (this.shipped.length) return;
    this.shipped = (await this.app.server.ask("puzzles")).puzzles || []; // else with the next connection
    this.fill();
    if (this.isWanted && this.app.tab === this.name) this.next();
  }

  fill() {
    this.list.replaceChildren(...this.puzzles.map((puzzle, number) => {
      const mark = this.solved.has(puzzle.id) ? "✓ " : "";
      const text = `${mark}${number + 1}. ${puzzle.rule}, ${puzzle.to_move} wins in ${puzzle.own_moves || "?"} ${KINDS[puzzle.kind]}`;
      return make("option", { value: number }, text);
    }));
    if (this.at >= 0) this.list.value = this.at;
  }

  async load(file) {
    if (!file) return null;
    const found = [];
    try {
      for (const line of (await file.text()).split("\n").filter((text) => text.trim())) {
        const puzzle = JSON.parse(line);
        if (puzzle.kind in KINDS && this.startOf(puzzle)) found.push(puzzle);
        if (found.length >= 5000) break;
      }
    } catch (error) {
      return this.say(`this is no puzzle file: ${error.message}`);
    }
    this.shipped = found;
    this.at = -1;
    this.fill();
    return this.say(found.length ? `${found.length} puzzles with a win to find` : "the file has no puzzle with a win to find");
  }

  startOf(puzzle) {
    const placed = SIDES.flatMap((side) => puzzle[side].map(([x, y]) => ({ x, y, side })));
    return { width: puzzle.size, height: puzzle.size, rule: puzzle.rule, placed, first: puzzle.to_move };
  }

  begin(number) {
    const puzzle = this.puzzles[number];
    if (!puzzle) return;
    this.at = number;
    this.list.value = number;
    this.start(puzzle);
  }

  start(puzzle) {
    const tree = new GameTree(this.startOf(puzzle));
    this.app.lend(tree, tree.root, () => this.resume(puzzle));
    this.app.openTab("puzzle");
  }

  again() { if (this.puzzle) this.start(this.puzzle); }

  get task() { return `${this.puzzle.to_move} to move wins in ${this.puzzle.own_moves || "some"} ${KINDS[this.puzzle.kind]}`; }

  next() {
    this.isWanted = !this.puzzles.length;
    if (this.isWanted) return this.say("there is no puzzle yet");
    const open = this.puzzles.findIndex((puzzle, number) => number > this.at && !this.solved.has(puzzle.id));
    return this.begin(open >= 0 ? open : (this.at + 1) % this.puzzles.length);
  }

  // The game that was on the board before comes back.
  leave() {
    this.app.giveBack();
    this.say("Choose a puzzle: the side to move wins.");
  }

  // Also after a reload in the middle of a puzzle.
  resume(puzzle) {
    this.puzzle = puzzle;
    this.failed = this.over = this.busy = false;
    this.app.setGuide(this);
    this.say(this.task);
    // The proof is found while the person thinks, so that a move can be answered at once.
    const { app } = this;
    this.proof = app.ask("prove", { seconds: 10 }, null, app.tree.root);
  }

  // The last attack and its answer are gone.
  takeBack() {
    const { app } = this;
    if (!app.node.parent || this.busy) return;
    let gone = app.node;
    while (gone.side !== this.attacker && gone.parent.parent) gone = gone.parent;
    app.tree.remove(gone);
    this.over = false;
    app.go(gone.parent);
    this.say(this.task);
  }

  get attacker() { return SIDES.indexOf(this.puzzle.to_move); }

  state() {
    if (this.over) return this.status.textContent;
    return this.busy ? "the program defends" : `${this.puzzle.to_move} to move and win`;
  }

  refuses() { return this.busy ? "wait for the defence" : this.over ? "the puzzle is over; take moves back or choose another" : null; }

  moved() { this.over = false; }

  // The person has attacked: the program defends as long as it can, or says what refutes it.
  async played(node) {
    const { app } = this;
    if (app.tree.toMove(node) === this.attacker) return;
    this.busy = true;
    const facts = await app.look(node);
    if (facts?.winner) this.won();
    else if (facts) await this.defend(node);
    this.busy = false;
    app.draw();
  }

  async defend(node) {
    const { app } = this;
    this.say("the program defends…");
    app.server.stop(this.proof.id);
    const found = await this.tried(app.ask("reply", { seconds: SECONDS }));
    if (!found || app.node !== node || app.guide !== this) return;
    app.playCell(found.move);
    const line = app.names(found.line.slice(0, SHOWN));
    const texts = { lost: `still won, ${found.length} to go`, escaped: `refuted by ${line}; take it back and try another`, open: `no win is seen after ${line}; take it back, or go on if you can` };
    this.say(texts[found.state]);
    if (found.state !== "lost") {
      this.failed = true;
      app.line = found.line.slice(1, SHOWN);
    }
    const after = await app.look(app.node);
    if (!after?.winner) return;
    this.over = true;
    this.say(`${after.winner} has won; take it back and try another`);
  }

  won() {
    this.over = true;
    this.solved.add(this.puzzle.id);
    remember("solved", [...this.solved]);
    this.fill();
    this.say(this.failed ? "solved, after another try" : "solved");
  }

  // The solution is a proof to walk through.
  solve() {
    if (!this.puzzle) return this.say("choose a puzzle first");
    const { app } = this, tree = new GameTree(this.startOf(this.puzzle));
    app.lend(tree, tree.root);
    app.openTab("proof");
    return app.proof.begin();
  }

  // A win that was missed or allowed in a game.
  fromMistake(tree, node, { plies, line, proof: kind = "win" }) {
    const { width: size, height, rule, placed } = tree.start, stones = { black: [], white: [], wall: [] };
    for (const { x, y, side } of placed) stones[side].push([x, y]);
    if (size !== height || stones.wall.length) return this.app.say("puzzles have square boards without blocked cells", true);
    for (const { cell, side } of node.path) stones[SIDES[side]].push(cell);
    const { black, white } = stones, id = JSON.stringify([size, rule, black, white]);
    const puzzle = { id, size, rule, black, white, to_move: SIDES[tree.toMove(node)], kind, best: line.slice(0, 1), line, own_moves: Math.ceil(plies / 2) };
    this.own = [puzzle, ...this.own.filter((other) => other.id !== id)].slice(0, 200);
    remember("puzzles", this.own);
    this.fill();
    return this.begin(0);
  }
}
