// A game against the engine: rule, board, level, opening, clocks.

import { Panel, asked, find } from "./dom.js";
import { GameTree, SIDES } from "./tree.js";

const LEAST_SECONDS = 0.1, SHARE = 1 / 25;

// The board of a new game, as the form has it.
export function chosenBoard() {
  return { rule: find("rule").value, width: Number(find("width").value), height: Number(find("height").value) };
}

export class PlayPanel extends Panel {
  constructor(app) {
    super(app, "play");
    for (const name of ["rule", "width", "height", "level", "person", "opening", "seconds", "minutes"]) this[name] = find(name);
    this.report = find("play-report");
    this.used = [0, 0];
    setInterval(() => this.tick(), 100);
  }

  // No help while a game goes on, unless the analysis is looked at.
  get isQuiet() { return this.isOn && this.human !== "both" && !["analyse", "known"].includes(this.app.tab); }

  onserver(about) {
    for (const { level, nodes, depth, elo } of about.levels) {
      const option = this.level.options[level - 1];
      if (elo && !option.title) option.append(`, +${elo} Elo`);
      option.title = depth ? `${depth} ${depth > 1 ? "plies" : "ply"} deep` : nodes ? `${nodes.toLocaleString("en")} positions` : "all its time";
    }
    if (!this.thinking) this.goOn();
  }

  onfacts(node) {
    if (this.app.guide !== this || !node.facts || this.over) return;
    if (node.facts.winner) this.finish(`${node.facts.winner} wins` + this.who(node.facts.winner));
    else if (node.facts.full) this.finish("a draw: the board is full");
  }

  who(side) { return this.human === "both" ? "" : side === this.human ? " (you)" : " (Numoku)"; }

  // A method of the textbooks that plays (docs/methods.md), in place of a level.
  get method() { return isNaN(this.level.value) && this.level.value; }

  // The game before comes back; a second time the other one does.
  back() {
    const { app } = this, { former } = app.games;
    if (former) app.show(former.tree, former.node);
  }

  // A game that has ended is looked at, until a person plays on from one of its positions.
  get isOn() { return !this.over && !this.app.tree.names.result; }

  // Begin and end ------------------------------------------------------------------

  begin() {
    if (!this.width.validity.valid || !this.height.validity.valid) return this.app.say("boards are 5 to 22 wide and high", true);
    const person = this.person.value;
    this.app.show(new GameTree(chosenBoard())); // then the form follows the board that is left
    this.start(person, true);
    if (this.app.games.former) this.report.textContent = "The game before is kept under Games, and “Game before” brings it back.";
    const opening = this.opening.value;
    if (opening === "swap2-you") return this.swap2("person", "put three stones: black, white, black");
    return opening === "swap2-engine" ? this.decide() : this.think();
  }

  resume() {
    this.start(this.person.value);
    this.think();
  }

  start(human, fresh = false) {
    this.cancel();
    const { tree } = this.app, opponent = `Numoku ${this.method || `level ${this.level.value}`}`;
    tree.names = { black: human === "white" ? opponent : "you", white: human === "black" ? opponent : "you" };
    tree.match = { human, stage: "", fresh, used: [0, 0], ...this.settings };
    this.shown();
    this.app.draw();
  }

  finish(text) {
    this.charge();
    this.over = text;
    this.report.textContent = `Result: ${text}, ${this.app.node.ply} stones`;
    this.app.tree.names.result = text.startsWith("black") ? "1-0" : text.startsWith("white") ? "0-1" : "1/2-1/2";
    this.app.say(text);
    this.app.draw();
    this.app.known.store(this.app.node.line, "");
  }

  end() {
    this.app.tree.match = this.snapshot();
    this.since = null;
    this.cancel();
    this.clocks(false);
  }

  // Everything that a game needs to go on after a reload; null if it has ended.
  snapshot() {
    if (!this.isOn) return null;
    const { human, stage, stageText, from, fresh } = this;
    return { human, stage, stageText, from, fresh, used: [this.spent(0), this.spent(1)], ...this.settings };
  }

  get settings() { return { level: this.level.value, seconds: this.seconds.value, minutes: this.minutes.value }; }

  // Another game is on the board: the form has its rule and size, and what was interrupted goes on.
  shown() {
    const { start, match } = this.app.tree;
    for (const name of ["rule", "width", "height"]) this[name].value = start[name];
    if (!match) return;
    for (const name of ["level", "seconds", "minutes"]) this[name].value = match[name];
    this.person.value = match.human;
    const { human, stage, stageText, from, fresh, used } = match;
    Object.assign(this, { human, stage, stageText, from, fresh, used: [...used], over: "", since: performance.now(), turn: this.app.tree.toMove(this.app.node) });
    this.report.textContent = "";
    this.app.setGuide(this);
  }

  // After the position is on the board: whose turn is it?
  goOn() {
    const { node } = this.app;
    if (this.app.guide !== this || node.children.length) return;
    if (this.stage === "engine") this.decide();
    else if (this.stage === "choice") this.offer(node.ply === 3);
    else this.think();
  }

  // The last move of the person and the answer to it are gone; a game that began with an empty
  // board has no variations.
  takeBack() {
    const { app } = this;
    let { node } = app;
    if (!node.parent || this.stage === "engine" || this.stage === "choice") return app.say("there is nothing to take back");
    let gone;
    do {
      gone = node;
      node = node.parent;
    } while (node.parent && !this.stage && this.isOpponents(node));
    if (!this.stage && this.isOpponents(node)) return app.say("there is nothing to take back");
    delete app.tree.names.result;
    if (this.fresh) app.tree.remove(gone);
    return app.visit(node);
  }

  cancel() {
    if (this.thinking) this.app.server.stop(this.thinking);
    this.thinking = null;
  }

  async resign() {
    const { app } = this, { tree } = app;
    if (app.guide !== this || this.over) return app.say("no game is being played");
    if (!await asked("resigning") || app.tree !== tree || this.over) return null;
    this.cancel();
    const side = this.human === "both" ? SIDES[tree.toMove(app.node)] : this.human;
    return this.finish(`${side === "black" ? "white" : "black"} wins, ${side} resigned`);
  }

  // Turns --------------------------------------------------------------------------

  isEngineTurn() { return !this.over && !this.stage && this.isOpponents(this.app.node); }

  isOpponents(node) { return this.human !== "both" && SIDES[this.app.tree.toMove(node)] !== this.human; }

  state() {
    if (this.over) return this.over;
    if (this.stage) return this.stageText;
    if (this.isEngineTurn()) return this.thinking ? "Numoku is thinking" : "Numoku to move: step on, or play for it";
    return "your move, " + SIDES[this.app.tree.toMove(this.app.node)];
  }

  refuses() {
    if (this.over) return `${this.over}; start a new game, or go back`;
    if (this.stage === "engine") return "Numoku is choosing";
    if (this.stage === "choice") return "choose first";
    return this.thinking ? "Numoku is thinking" : null;
  }

  played() {
    this.charge();
    if (!this.over) delete this.app.tree.names.result; // of a game that ended where it was taken back
    if (!this.stage) this.think();
    else if ([3, 5].includes(this.app.node.ply)) this.decide();
  }

  // The person has stepped through the moves: the game goes on from wherever he plays.
  moved(node) {
    this.cancel();
    this.charge();
    this.over = "";
    this.report.textContent = "";
    if (this.stage && !(this.stage === "person" && node.ply >= this.from)) this.leave();
    this.app.draw();
  }

  async think() {
    const { app } = this, node = app.node;
    if (!this.isEngineTurn()) return;
    const facts = await app.look(node);
    if (!facts || facts.winner || facts.full || app.node !== node || app.guide !== this) return;
    let seconds = Number(this.seconds.value) || 5;
    if (Number(this.minutes.value)) seconds = Math.max(LEAST_SECONDS, Math.min(seconds, this.left(app.tree.toMove(node)) * SHARE));
    const { method } = this, thought = await this.consult("move", { seconds, ...(method ? { method } : { level: Number(this.level.value) }) });
    if (!thought) return;
    app.playCell(thought.move);
    this.charge();
    app.draw();
  }

  // What Numoku says of the position on the board; null if that comes too late, or not at all.
  async consult(what, fields) {
    const { app } = this, node = app.node;
    const question = app.ask(what, fields);
    this.thinking = question.id;
    app.draw();
    const answer = await question, { error, lost, stopped } = answer, isWanted = this.thinking === question.id;
    if (isWanted) this.thinking = null;
    if (error && isWanted && !lost) { // what is lost is asked again
      if (!stopped) app.say(error, true);
      if (this.stage) this.leave(error + ". ");
    }
    app.draw();
    return isWanted && !error && app.node === node ? answer : null;
  }

  async hint() {
    const { app } = this, node = app.node;
    const found = await app.ask("analyse", { time: Number(this.seconds.value) || 5 });
    if (found.error) return found.stopped ? null : app.say(found.error, true);
    if (app.node !== node) return null;
    app.line = found.pv.slice(0, 1);
    app.say(`Numoku would play ${app.nameOf(found.move)}`); // until this is gone, or a move made
    return app.draw();
  }

  marks() { return this.app.line ? { line: this.app.line } : null; }

  // Clocks -------------------------------------------------------------------------

  // Charge the time since the last call to the side whose turn it was.
  charge() {
    if (this.since === null || this.since === undefined) return;
    const now = performance.now();
    if (this.isRunning) this.used[this.turn] += (now - this.since) / 1000;
    this.since = now;
    this.turn = this.app.tree.toMove(this.app.node);
  }

  // The clocks begin when the sides are settled.
  get isRunning() { return this.app.guide === this && this.isOn && !this.stage; }

  left(side) { return 60 * Number(this.minutes.value) - this.spent(side); }

  spent(side) {
    return this.used[side] + (this.isRunning && this.turn === side ? (performance.now() - this.since) / 1000 : 0);
  }

  tick() {
    if (this.app.guide !== this || this.since === null) return;
    this.clocks(true);
    if (this.isRunning && Number(this.minutes.value) && this.left(this.turn) <= 0) {
      this.cancel();
      this.finish(`${SIDES[1 - this.turn]} wins on time`);
    }
  }

  clocks(shown) {
    SIDES.forEach((name, side) => {
      const clock = find(`${name}-clock`);
      clock.textContent = "";
      if (!shown) return;
      const seconds = Math.max(0, Number(this.minutes.value) ? this.left(side) : this.spent(side));
      const text = `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
      clock.textContent = `${side ? "○" : "●"} ${text}${this.who(name)}`;
      clock.classList.toggle("running", this.isRunning && this.turn === side);
    });
  }

  // Swap2 --------------------------------------------------------------------------

  // stage: "person" puts stones, "engine" decides, "choice": the person decides.
  swap2(stage, text) {
    this.stage = stage;
    this.stageText = text;
    this.from = this.app.node.ply;
    this.app.draw();
  }

  leave(why = "") {
    this.stage = "";
    this.app.choose([]);
    this.report.textContent = `${why}Swap2 is left; you play ${this.human === "both" ? "both sides" : this.human}.`;
  }

  // Numoku puts three stones, takes a side, or puts two more.
  async decide() {
    const { app } = this, { ply } = app.node;
    this.swap2("engine", ply ? "Numoku chooses" : "Numoku puts three stones");
    const choice = await this.consult("swap2", { seconds: Number(this.seconds.value) || 5 });
    if (!choice) return;
    if (choice.swap) {
      this.settle("white");
      this.report.textContent = "Numoku takes black; you play white.";
      return;
    }
    for (const cell of choice.stones) app.playCell(cell);
    if (choice.stones.length === 1) {
      this.settle("black");
      this.report.textContent = "Numoku takes white; you play black.";
    } else this.offer(!ply);
  }

  // The three options of swap2 for the person, or two of them after two more stones.
  offer(withTwoMore) {
    this.swap2("choice", "choose your side" + (withTwoMore ? ", or put two more stones" : ""));
    const options = [["Play black", () => this.settle("black")], ["Play white", () => this.settle("white")]];
    if (withTwoMore) options.push(["Put two more", () => this.swap2("person", "put two stones: white, black")]);
    this.app.choose(options);
  }

  settle(side) {
    this.charge();
    this.human = side;
    this.stage = "";
    this.app.tree.names = { black: side === "black" ? "you" : "Numoku", white: side === "white" ? "you" : "Numoku" };
    this.report.textContent = `You play ${side}.`;
    this.app.draw();
    this.think();
  }
}
