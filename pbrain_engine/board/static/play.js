// A game against the engine, of two people, or of the engine with itself: turns, openings, the end.

import { Clocks } from "./clocks.js";
import { Panel, asked, find, isChecked, opened } from "./dom.js";
import { Opening } from "./opening.js";
import { chosenBoard, fill, levelName, levelNote, presets, showForm, values } from "./setup.js";
import { GameTree, SIDES, isSame } from "./tree.js";
import { percent, t } from "./words.js";

const SLIP = 0.15, SLIP_SECONDS = 0.6; // chance that a mistake costs, and the time to see one
const HINT_SECONDS = 2;

export class PlayPanel extends Panel {
  name = "play";
  report = find("play-report");
  begun = 0; // games since the page was opened
  clocks = new Clocks(this);

  // Who plays, the settings and the time that was used: the game has them.
  get match() { return this.app.tree.match || {}; }

  get human() { return this.match.human; }

  // No help while people play, unless the analysis is looked at.
  get isQuiet() { return this.isOn && this.human !== "none" && !["analyse", "known", this.isDuel || "review"].includes(this.app.tab); }

  // Whether one person plays against Numoku.
  get isDuel() { return SIDES.includes(this.human); }

  onfacts(node) {
    const { winner, foul, full } = node.facts;
    if (this.app.guide !== this || this.over) return;
    if (foul) this.finish(this.app.foulText("foul-loses", foul), "white");
    else if (winner) this.finish(t("wins", { side: winner, who: !this.isDuel ? "other" : winner === this.human ? "you" : "numoku" }), winner);
    else if (full) this.finish(t("draw"), "");
  }

  // A method of the textbooks that plays (docs/methods.md), in place of a level.
  get method() { return isNaN(this.match.level) && this.match.level; }

  // A game that has ended is looked at, until a person plays on from one of its positions.
  get isOn() { return Boolean(this.app.tree.goesOn); }

  // The game before comes back; a second time the other one does.
  back() { this.app.show(this.app.games.former); }

  // The view ---

  refresh() {
    const { app } = this, isGuide = app.guide === this, isOn = isGuide && this.isOn, isDone = !isOn && app.tree.played && app.node.end.ply > 0;
    const shown = {
      "take-back": app.guide?.takeBack && this.human !== "none",
      "hint": isOn && this.isDuel && !this.opening, "wishes": isOn && this.isDuel, "resign": isOn && this.human !== "none", "pause": isOn && this.human === "none",
      "review-it": isDone && !app.away, "again": isDone && app.tree.match && !app.away, "from-here": this.canResume && !app.guide, "former": app.games.former,
    };
    for (const name in shown) find(name).hidden = !shown[name];
    find("pause").textContent = t(this.match.paused ? "go-on" : "pause");
    SIDES.forEach((side, at) => this.showPlayer(side, at));
    document.body.dataset.bottom = isGuide && this.isDuel ? this.human : "black";
    find("invitation").hidden = !app.invites;
    if (!app.invites) return;
    presets(find("invited-presets"), () => app.show(new GameTree(chosenBoard()).root));
    const { person: side, level } = values();
    find("invited").textContent = t("invitation-form", { side, level: levelName(level), note: levelNote(level) });
  }

  showPlayer(side, at) {
    const { app } = this, element = find(`${side}-player`), isGame = app.guide === this;
    const isEngine = isGame && this.human !== "both" && side !== this.human;
    element.querySelector("b").textContent = isEngine ? "Numoku" : isGame && this.human === side ? t("you") : app.tree.names[side] || t(side);
    element.querySelector(".note").textContent = isEngine ? `${levelName(this.match.level)} · ${levelNote(this.match.level)}` : "";
    const turn = (isGame && this.opening?.step) ? this.opening.side : app.tree.toMove(app.node);
    const isTurn = turn === at && !app.node.isOver && !(isGame && this.over);
    element.classList.toggle("turn", isTurn);
    element.classList.toggle("thinking", isTurn && Boolean(this.thinking));
  }

  // Begin and end ---

  // Whether a game can begin with the position on the board.
  get canResume() {
    const { away, node, tree } = this.app;
    return (node.ply > 0 || tree.start.placed.length > 0) && !away && !node.isOver;
  }

  // The dialog of a new game; here: meant to begin with the position on the board.
  async ask(here = "") {
    const { canResume } = this, isResumed = canResume && Boolean(here || !this.app.node.ply);
    find("resume").hidden = !canResume;
    find("resume").classList.toggle("main", isResumed);
    find("start").classList.toggle("main", !isResumed);
    showForm();
    const answer = await opened("setup");
    if (answer === "start") this.begin();
    if (answer === "resume") this.resume();
  }

  begin() {
    const { app } = this, { person, opening: rule } = values();
    app.openTab("play");
    app.show(new GameTree(chosenBoard()).root);
    this.start(true, rule === "none" ? null : { rule, actions: "", person: Number(person === "white") });
    return this.goOn();
  }

  resume() {
    const { app } = this, board = chosenBoard(), { rule, width, height } = app.tree.start;
    if (app.tree.stones(app.node).some(({ x, y }) => x >= board.width || y >= board.height)) return app.say(t("no-room"), true);
    app.openTab("play");
    if (board.rule !== rule || board.width !== width || board.height !== height) app.show(app.tree.upTo(app.node, board));
    this.start();
    this.think();
  }

  nameSides() {
    const own = (side) => (this.human === "both" || this.human === side ? t("you") : `Numoku ${levelName(this.match.level)}`);
    this.app.tree.names = { black: own("black"), white: own("white") };
  }

  start(fresh = false, opening = null) {
    this.cancel();
    const { tree } = this.app, { person: human, ...settings } = values();
    tree.match = { ...settings, human, opening, fresh, used: [0, 0] };
    tree.played = true;
    this.begun += 1;
    this.nameSides();
    this.shown();
    this.app.draw();
  }

  finish(text, winner) {
    this.cancel();
    this.clocks.charge();
    this.over = this.match.over = text;
    this.report.textContent = `${text} · ${t("n-moves", { n: this.app.node.ply })}`;
    this.app.tree.names.result = { black: "1-0", white: "0-1" }[winner] || "1/2-1/2";
    this.app.choose([]);
    this.app.say(text);
    this.app.known.store(this.app.node.line, "");
  }

  end() {
    this.clocks.end();
    this.cancel();
  }

  // Another game is on the board: the form has its rule and size, and what was interrupted goes on.
  shown() {
    const { start, goesOn } = this.app.tree, { opening } = this.match;
    fill({ rule: start.rule, width: start.width, height: start.height });
    if (!goesOn) return;
    Object.assign(this, { over: "", ended: null, opening: opening?.rule ? new Opening(this, opening) : null });
    this.clocks.begin();
    this.report.textContent = "";
    this.app.setGuide(this);
  }

  // After the position is on the board: whose turn is it?
  goOn() {
    const { node } = this.app;
    if (this.app.guide !== this) return null;
    if (this.opening) return this.opening.goOn();
    return node.children.length ? null : this.think();
  }

  // The last move of the person and the answer to it are gone; a game that began with an empty
  // board has no variations. First of all, what is asked about an opening is answered.
  async takeBack() {
    const { app } = this, asked = app.guide?.opening?.asking;
    await asked;
    if (app.guide?.opening?.asking !== asked) return this.takeBack(); // something else was done by then
    if (app.guide !== this) return app.guide?.takeBack?.();
    const { path } = app.node;
    if (this.opening) return this.opening.takeBack();
    const gone = path.findLast(({ parent }) => !this.isOpponents(parent)) ?? path[0], node = gone?.parent;
    if (gone && this.reopens(node)) return this.opening.takeBack();
    if (!gone || this.isOpponents(node)) return app.say(t("nothing-back"));
    delete app.tree.names.result;
    if (this.match.fresh) app.tree.remove(gone);
    return app.visit(node);
  }

  cancel() {
    for (const id of [this.thinking, this.pondering]) this.app.server.stop(id);
    this.thinking = this.pondering = null;
  }

  pause() {
    const { match } = this;
    match.paused = !match.paused;
    if (match.paused) this.cancel();
    else if (this.opening) this.opening.goOn();
    else this.think();
    this.app.draw();
  }

  async resign() {
    const { app } = this, { tree } = app;
    if (!await asked(t("resign-ask"), t("resign")) || app.tree !== tree || this.over) return null;
    const side = this.human === "both" ? app.mover : this.human;
    return this.finish(t("resigned", { side }), side === "black" ? "white" : "black");
  }

  // Turns ---

  isEngineTurn() { return !this.over && !this.opening && this.isOpponents(this.app.node); }

  isOpponents(node) { return this.human !== "both" && SIDES[this.app.tree.toMove(node)] !== this.human; }

  state() {
    if (!this.isOn) return this.over;
    if (this.opening) return this.opening.state();
    if (!this.isEngineTurn()) return t("your-move", { side: this.app.mover });
    if (!this.app.server.about) return t("loading-game");
    return this.thinking ? t("thinking") : t("engine-to-move");
  }

  refuses(cell) {
    if (this.over) return `${this.over}. ${t("begin-or-back")}`;
    if (this.opening) return cell ? this.opening.refuses(cell) : null;
    if (!find("choices").hidden) return t("choose-first");
    // Numoku's own move, also while its server is away: what is clicked is no stone of Numoku's.
    return this.thinking || (this.isEngineTurn() && !this.app.node.children.length) ? t("thinking") : null;
  }

  played(node) {
    this.clocks.press();
    this.match.paused = false;
    if (!this.over) delete this.app.tree.names.result; // of a game that ended where it was taken back
    if (this.opening) return this.opening.played(node);
    return isChecked("careful") && this.isEngineTurn() ? this.consider() : this.think();
  }

  // The person has stepped through the moves: the game goes on from wherever he plays.
  moved(node) {
    this.cancel();
    this.clocks.charge();
    this.match.paused = this.human === "none";
    this.over = "";
    this.app.choose([]);
    this.report.textContent = "";
    this.reopens(node);
    this.opening?.goOn();
    this.app.draw();
    this.ponder();
  }

  // Before Numoku answers: was the person's move a mistake? It can be taken back then.
  async consider() {
    const { app } = this, node = app.node, look = (at) => app.ask("analyse", { time: SLIP_SECONDS }, null, at);
    const before = await look(node.parent), after = before.error || node.facts?.winner ? null : await look(node);
    if (app.node !== node || app.guide !== this) return null;
    const loss = after && !after.error ? before.chance - (1 - after.chance) : 0;
    if (loss < SLIP || isSame(before.move, node.cell)) return this.think();
    return app.choose([[t("take-back"), () => this.takeBack()], [t("play-on"), () => this.think()]], t("slip", { loss: percent(loss) }));
  }

  async think() {
    const { app } = this, node = app.node;
    if (!this.isEngineTurn()) return this.ponder();
    const facts = await app.look(node);
    if (!facts || node.isOver || app.node !== node || app.guide !== this || this.match.paused) return;
    const { level } = this.match, limit = this.clocks.limit(app.tree.toMove(node));
    const thought = await this.consult("move", { ...limit, ...(this.method ? { method: level } : { level: Number(level) }) });
    if (!thought) return;
    app.playCell(thought.move);
    this.clocks.press();
    app.draw();
    this.think();
  }

  // Numoku goes on thinking in the time of the person: what it finds stays in its memory, and any
  // other question ends it.
  ponder() {
    const { app } = this;
    if (isChecked("ponder") && this.isDuel && app.isQuiet && !this.method && !this.opening && !this.isEngineTurn()) this.pondering = app.ask("analyse").id;
  }

  // What Numoku says of the position on the board; null if that comes too late, or not at all.
  async consult(what, fields) {
    const { app } = this, node = app.node;
    for (const panel of [app.review, app.analyse]) panel.stop(); // which may take longer than Numoku has
    const question = app.ask(what, fields);
    this.thinking = question.id;
    app.draw();
    const answer = await question, { error, stopped } = answer, isWanted = this.thinking === question.id;
    if (isWanted) this.thinking = null;
    if (error && isWanted) {
      if (!stopped) app.say(error, true);
      if (this.opening) this.leaveOpening(error + ". ");
    }
    app.draw();
    return isWanted && !error && app.node === node ? answer : null;
  }

  async hint() {
    const { app } = this, node = app.node;
    app.say(t("looking"));
    const found = await app.ask("analyse", { time: Math.min(Number(this.match.seconds) || 5, HINT_SECONDS) });
    if (found.error) return found.stopped ? null : app.say(found.error, true);
    if (app.node !== node) return null;
    app.line = found.pv.slice(0, 1);
    return app.say(t("hint-is", { cell: app.nameOf(found.move) })); // until this is gone, or a move made
  }

  marks() { return this.app.line ? { line: this.app.line } : this.app.guide === this && this.opening?.marks(); }

  // Openings ---

  // Go on without the opening: something went wrong, or another move was made.
  leaveOpening(why = "") {
    this.opening = this.ended = this.match.opening = null;
    this.app.choose([]);
    this.report.textContent = why + t("opening-left", { side: this.human });
    this.app.draw();
    this.think();
  }

  // Whether the opening, which is over, goes on again before its last stone.
  reopens({ ply }) {
    const { ended } = this;
    if (!ended || ply >= ended.step.stones.length) return false;
    Object.assign(this, { opening: ended, ended: null });
    return true;
  }

  // The opening is over, the sides are chosen.
  settle() {
    this.clocks.charge();
    Object.assign(this, { opening: null, ended: this.opening });
    if (this.human !== "none") this.report.textContent ||= t("you-play", { side: this.human });
    this.app.draw();
    this.goOn();
  }
}
