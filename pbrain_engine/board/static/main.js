// The page: the game that is shown, who may do what with it, and the panels next to it.

import { AnalysisPanel } from "./analysis.js";
import * as address from "./address.js";
import { BoardView } from "./board.js";
import { button, find, isChecked, make, stoneSound } from "./dom.js";
import { FilePanel } from "./files.js";
import { GamesPanel, RESULTS } from "./games.js";
import { KnownPanel } from "./known.js";
import { MovesPanel } from "./moves.js";
import { fillHeader, listenToKeys, listenToWheel, showConnection } from "./header.js";
import { PlayPanel } from "./play.js";
import { ProofPanel } from "./proof.js";
import { PuzzlePanel } from "./puzzle.js";
import { Lesson, ReviewPanel } from "./review.js";
import { Server } from "./server.js";
import { chosenBoard, fillForm } from "./setup.js";
import { GameTree, SIDES, isSame } from "./tree.js";
import { letterOf, nameOf, readCells } from "./draw.js";
import { SESSION, keepFields, remember, remembered } from "./kept.js";
import { boardName, openingName, t, translate } from "./words.js";

const KEEP_AFTER = 150; // milliseconds after a move, so that the search begins first
const IS_RELOAD = performance.getEntriesByType("navigation")[0]?.type === "reload"; // its address may be that of the move before

class App {
  constructor() {
    this.guide = null; // what reacts to the moves of the person: a game, a proof, a puzzle
    this.server = new Server((state, reason) => this.connection(state, reason), () => this.tell("onidle"));
    translate();
    this.board = new BoardView(find("board"), this);
    this.away = null; // where the game is whose place a puzzle has taken
    fillForm();
    this.node = new GameTree(chosenBoard()).root;
    this.panels = [PlayPanel, AnalysisPanel, ProofPanel, MovesPanel, ReviewPanel, PuzzlePanel, GamesPanel, FilePanel, KnownPanel].map((Panel) => new Panel(this));
    for (const panel of this.panels) this[panel.name] = panel;
    this.lesson = new Lesson(this);
    keepFields();
    this.openTab(remembered("tab", "play"));
    this.listen();
    this.hasAddress = Boolean(location.hash); // soon every page has one
    this.begin();
    this.server.connect();
  }

  // The game ---

  // Show the game that was last looked at, if the address is still its; else that of the address.
  // A hash that comes later is that of its event: by then the page may have written its own again.
  begin(later = null) {
    const kept = later === null ? this.kept() : null;
    let found = null, wrong = "";
    try {
      if (!kept || (!IS_RELOAD && kept.address !== location.hash)) found = address.read(later ?? location.hash);
    } catch (error) {
      wrong = error.message;
    }
    if (kept) {
      this.take(kept);
      this.save(); // a tab that is opened from now on finds the game taken
    }
    if (found || !(kept || later !== null)) this.show(found || this.node);
    if (wrong) this.say(wrong, true);
  }

  // What the session has kept of the games; null if there is nothing.
  kept() {
    try {
      const { game, away, former, ...more } = remembered("game", null, SESSION);
      return { ...more, away: away && GameTree.documented(away), former: former && GameTree.documented(former), node: GameTree.documented(game) };
    } catch {
      return null;
    }
  }

  // Go on where the page was left: in a game, and in what interrupted it or has its place.
  take({ node, guide, away, former, left, review }) {
    // Another tab, not left, has the same session and goes on with the game, too.
    if (!left) (away || node).tree.id = new GameTree().id;
    this.games.former = former;
    this.show(away || node);
    if (review) this.review.restore(review);
    if (guide) this[guide.name].restore(guide, node);
  }

  // Show another game; the one that was shown is kept.
  show(node) {
    this.setGuide(null);
    if (this.game.tree !== node.tree) this.games.replaced(this.game);
    Object.assign(this, { away: null, node });
    this.play.shown();
    this.go(node);
    this.play.goOn();
  }

  // Show a puzzle, its solution or a lesson until giveBack; guide() sets what reacts to the moves.
  lend(node, guide) {
    this.setGuide(null);
    if (!this.away) Object.assign(this, { away: this.node, tabBefore: this.tab });
    this.node = node;
    guide?.();
    this.go(node);
    scrollTo(0, 0); // where the board is, on a telephone
  }

  // The game whose place a puzzle has taken comes back as it was.
  giveBack() {
    if (!this.away) return;
    this.show(this.away);
    if (this.tabBefore) this.openTab(this.tabBefore);
  }

  get tree() { return this.node.tree; }

  // Where the game of the person is, also while a puzzle has its place.
  get game() { return this.away || this.node; }

  get mover() { return SIDES[this.tree.toMove(this.node)]; }

  // A puzzle, or a game that goes on or is about to begin, shows nothing that would help.
  get isQuiet() { return this.guide ? Boolean(this.guide.isQuiet) : this.invites; }

  // Whether the first click begins a game.
  get invites() { return !this.guide && this.tab === "play" && this.tree.isEmpty && !this.away; }

  setGuide(guide) {
    if (this.guide && this.guide !== guide) this.guide.end?.();
    this.guide = guide;
    this.choose([]);
    document.body.dataset.guide = guide ? guide.name : "";
  }

  go(node) {
    this.node = node;
    this.line = this.message = null;
    clearTimeout(this.keepTimer);
    this.keepTimer = setTimeout(() => this.keep(), KEEP_AFTER);
    this.tell("onnode", node);
    this.draw();
    this.look(node);
  }

  // The person looks at another move of the game.
  visit(node) {
    if (!node || node === this.node) return;
    this.go(node);
    this.guide?.moved?.(node);
  }

  // The address holds the position, the session the whole tree.
  keep() {
    clearTimeout(this.keepTimer);
    history.replaceState(null, "", location.pathname + address.write(this.node));
    this.save();
  }

  save(left = false) {
    if (this.guide === this.play) this.play.clocks.charge();
    this.games.later();
    const document = (node) => node?.tree.document(node);
    const guide = this.guide?.kept && { name: this.guide.name, ...this.guide.kept };
    const kept = { left, address: location.hash, game: document(this.node), away: document(this.away), guide, review: this.review.kept };
    const keep = (former) => remember("game", { ...kept, former }, SESSION);
    if (!keep(document(this.games.former))) keep(null); // too large: without the game before, or not at all
  }

  // Ask about a position, that on the board unless another one is given.
  ask(what, fields = {}, onevent = null, node = this.node) {
    return this.server.ask(what, { position: this.tree.position(node), ...fields }, onevent);
  }

  // What the rules say of a position; asked once for each.
  async look(node) {
    const facts = node.facts || await this.ask("look", {}, null, node);
    if (facts.error) {
      this.say(facts.error, true);
      return null;
    }
    node.facts = facts;
    if (node === this.node) {
      this.tell("onfacts", node);
      this.draw();
    }
    return facts;
  }

  isFree(cell) { return !this.board.stones.has(String(cell)); }

  async click(cell) {
    const node = this.node;
    if (this.file.puts) return this.file.put(cell);
    if (this.invites) {
      await this.play.begin();
      return this.play.refuses() ? null : this.click(cell); // Numoku may have the first move
    }
    if (!this.isFree(cell) && this.node.notes.drawn) {
      this.node.notes.drawn = "";
      return this.draw();
    }
    if (!this.isFree(cell)) return this.say(t("taken", { cell: this.nameOf(cell) }));
    const isEarly = !this.server.about && !node.facts; // before the engine is there, which answers as soon as it is
    const facts = isEarly ? null : await this.look(node);
    await this.guide?.opening?.asking;
    if ((!isEarly && !facts) || node !== this.node) return null;
    if (node.isOver) return this.say(`${this.stateText()}. ${t("begin-or-back")}`);
    const refused = this.guide?.refuses?.(cell);
    if (refused) return this.say(refused);
    const foul = facts?.forbidden.find((mark) => isSame(mark.cell, cell));
    if (foul) return this.say(this.foulText("foul-there", foul), true);
    return this.playCell(cell, true);
  }

  // Circle a cell or draw an arrow, or take it away; kept with the move, as "h8 a1b2".
  markCells(cells) {
    const { notes } = this.node, word = cells.map(nameOf).join(""), words = this.drawn.map((one) => one.map(nameOf).join(""));
    notes.drawn = (words.includes(word) ? words.filter((one) => one !== word) : [...words, word]).join(" ");
    this.save();
    this.draw();
  }

  get drawn() { return (this.node.notes.drawn || "").split(" ").map(readCells).filter((cells) => cells.length); }

  // Play a move; the person's own moves are reported to what is going on.
  playCell(cell, byPerson = false) {
    const node = this.tree.play(this.node, cell);
    if (isChecked("sound")) stoneSound();
    find("spoken").textContent = `${t(SIDES[node.side])} ${this.nameOf(cell)}`;
    this.go(node);
    if (byPerson) this.guide?.played?.(node);
    return node;
  }

  // The view ---

  nameOf([x, y]) { return letterOf(x) + (isChecked("from-bottom") ? this.tree.start.height - y : y + 1); }

  names(cells, between = " ") { return cells.map((cell) => this.nameOf(cell)).join(between); }

  draw() {
    const { node } = this;
    this.tell("refresh");
    const marks = { forbidden: node.facts?.forbidden, row: node.facts?.row, texts: node.notes.labels, drawn: this.drawn };
    for (const panel of this.panels) Object.assign(marks, panel.marks?.() || {});
    this.board.draw(marks);
    const last = node.end.ply;
    find("step").max = last;
    find("step").value = node.ply;
    find("undo").disabled = find("first").disabled = !node.parent;
    find("redo").disabled = find("last").disabled = !node.children.length;
    const opening = node.facts?.opening;
    find("about").textContent = boardName(this.tree.start) + (opening ? ` · ${openingName(opening)}` : "");
    const { text = this.stateText(), isWarning = false } = this.message || {};
    find("state").textContent = text;
    find("state").classList.toggle("warning", isWarning);
  }

  foulText(name, { cell, reason }) { return t(name, { cell: this.nameOf(cell), why: t(`foul ${reason}`) }); }

  stateText() {
    const facts = this.node.facts;
    const own = this.guide?.state?.(facts);
    if (own) return own;
    if (facts?.foul) return this.foulText("foul-loses", facts.foul);
    if (facts?.winner) return t("wins", { side: facts.winner });
    if (facts?.full) return t("draw");
    const { node, mover: side, tree } = this, words = node.ply ? t("to-move-after", { side, n: node.ply, cell: this.nameOf(node.cell) }) : t("to-move", { side });
    const result = node === tree.root.end && RESULTS[tree.names.result]; // of a game that was resigned, or came from a file
    return result ? `${words} · ${tree.match?.over || t(result)}` : words;
  }

  // Say something below the board, for a while or until another move; a warning in red.
  say(text, isWarning = false) {
    this.message = { text, isWarning };
    this.draw();
    clearTimeout(this.sayTimer);
    this.sayTimer = setTimeout(() => {
      this.line = this.message = null; // a hint goes with its words
      this.draw();
    }, 4000);
  }

  // Buttons over the board for a decision.
  choose(options, words = "") {
    const row = find("choices");
    const chosen = (action) => ({ detail }) => {
      row.hidden = true;
      if (!detail) find("board").focus(); // by a key
      action();
    };
    row.replaceChildren(...(words ? [make("p", { role: "status" }, words)] : []), ...options.map(([text, action], at) => button(text, chosen(action), { class: at ? null : "main" })));
    row.hidden = !options.length;
  }

  // Panels ---

  tell(what, news) { for (const panel of this.panels) panel[what]?.(news); }

  openTab(name) {
    if (!find(`tab-${name}`)) name = "play";
    const left = this.panels.find((panel) => panel.name === this.tab);
    this.tab = document.body.dataset.tab = name;
    remember("tab", name);
    if (left && left.name !== name) left.onclose?.();
    for (const panel of this.panels) {
      const isOpen = panel.name === name, tab = find(`tab-${panel.name}`);
      if (!tab) continue;
      panel.element.hidden = !isOpen;
      tab.setAttribute("aria-selected", isOpen);
      tab.tabIndex = isOpen ? 0 : -1;
    }
    this[name].onopen?.(Boolean(left));
    this.known.takeComment(this.node); // another tab may end the quiet of a game
    this.known.show();
    if (left) this.draw(); // each tab has marks of its own
  }

  listen() {
    const tabs = find("tabs");
    tabs.addEventListener("click", ({ target, detail }) => {
      const tab = target.closest("[role=tab]");
      if (tab) this.openTab(tab.id.slice(4));
      if (detail) document.activeElement.blur(); // a mouse leaves the keys to the moves
    });
    for (const [type, key] of [["click", "does"], ["change", "change"], ["input", "input"]]) document.addEventListener(type, ({ target }) => {
      const piece = target.closest(`[data-${key}]`);
      if (!piece) return;
      const given = type === "click" ? undefined : piece.files?.[0] ?? piece.value;
      const { [key]: does, what = given, panel = piece.closest("[id^=panel-]").id.slice(6) } = piece.dataset;
      this[panel][does](what);
      if (piece.files) piece.value = ""; // the same file can be chosen again
    });
    tabs.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], all = [...tabs.querySelectorAll("[role=tab]:not([hidden])")];
      if (!step) return;
      const next = all.at((all.indexOf(event.target) + step) % all.length);
      next.focus();
      next.click();
      event.preventDefault();
      event.stopPropagation();
    });
    listenToKeys(this);
    listenToWheel(this);
    window.addEventListener("pagehide", () => this.save(true)); // too late for the address
    window.addEventListener("hashchange", (event) => this.begin(new URL(event.newURL).hash));
    fillHeader();
  }

  // The connection ---

  async connection(state, reason) {
    showConnection(state, reason);
    this.draw();
    if (this.server.about) this.known.onserver(this.server.about);
    // The file that the command line named; once, and not in the place of a link.
    if (state !== "open" || this.hasAddress || remembered("started", null, SESSION)) return;
    const { name, ...found } = await this.server.ask("start");
    if (!name) return;
    remember("started", name, SESSION);
    this.file.show(found, name);
  }
}

window.app = new App();
