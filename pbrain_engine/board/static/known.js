// What the database knows of the position that is looked at; games and comments go into it.

import { valueText, WIN_BAND } from "./draw.js";
import { Panel, button, find, isChecked, make, percent, short } from "./dom.js";
import { SIDES } from "./tree.js";

const PAUSE = 120; // milliseconds after a move, so that the search begins first
const PROOFS = { vcf: "proven by fours", vct: "proven by fours and threes", search: "announced by the main search" };
const BOUNDS = { exact: "", lower: "at least ", upper: "at most " };

export class KnownPanel extends Panel {
  constructor(app) {
    super(app, "known");
    this.isThere = false;
    find("known-on-board").addEventListener("change", () => app.draw());
  }

  onserver(about) {
    this.isThere = about.database;
    find("tab-known").hidden = !this.isThere;
    if (!this.isThere && this.app.tab === this.name) this.app.openTab("play");
    else this.onnode(this.app.node);
  }

  onnode(node) {
    clearTimeout(this.timer);
    this.show();
    if (this.isThere) this.timer = setTimeout(() => this.ask(node), PAUSE);
  }

  async ask(node) {
    const { app } = this, known = await this.tried(app.ask("known", {}, null, node), true);
    if (!known) return;
    node.known = known;
    this.takeComment(node);
    if (app.node !== node) return;
    if (known.trouble) this.say(known.trouble);
    this.show();
    if (app.tab === this.name) app.draw();
  }

  // What was written before stands again beside the move, unless there is something already.
  takeComment(node) {
    if (!node.known || this.app.isQuiet) return;
    const [only, ...more] = node.known.notes.map((note) => note.comment).filter(Boolean);
    if (!only || more.length || (node.comment && node.comment !== only)) return;
    node.comment = node.stored = only;
    if (this.app.node === node) this.app.moves.onopen();
  }

  // The comment on a move as it is now, sent when a person has finished it.
  async comment(node) {
    const before = node.stored || "", after = node.comment;
    if (!this.isThere || before === after) return null;
    node.stored = after;
    const { error } = await this.app.ask("comment", { before, after }, null, node);
    if (!error) return this.ask(node);
    node.stored = before;
    return this.app.say(`the comment is not stored: ${error}`, true);
  }

  async storeAll() {
    const { tree } = this.app;
    if (await this.store(tree.flat(), tree.root.comment, tree.root.notes)) for (const node of tree.nodes()) node.stored = node.comment;
  }

  async store(rows, comment, root = {}) {
    const { app } = this, { tree } = app;
    if (!this.isThere) return false;
    const done = await this.tried(app.ask("store", { tree: rows, names: tree.names, comment, root }, null, tree.root));
    if (!done) return false;
    this.say(done.games || done.moves ? "stored" : "it was there already");
    this.ask(app.node);
    return true;
  }

  // View ---------------------------------------------------------------------------

  show() {
    const { app } = this, known = this.app.isQuiet ? null : app.node.known, brief = find("known-line");
    const words = known?.known ? this.words(known) : [];
    if (brief) brief.textContent = words.length ? "Known: " + words.join(" · ") : "";
    if (this.element.hidden) return;
    const notes = known?.notes || [];
    find("known-found").replaceChildren(make("p", {}, !known ? "–" : words.join(" · ") || (known.known ? "this position is known, nothing else about it" : "nothing is known about this position")),
      ...(known?.opening ? [make("p", { class: "about" }, `opening ${known.opening}`)] : []),
      ...(known?.moves?.length ? [make("p", {}, "best ", ...known.moves.slice(0, 5).map((cell) => this.move(cell)), known.pv.length > 1 ? " line " + app.names(known.pv) : "")] : []),
      ...(known?.book?.length ? [make("p", {}, "book ", ...known.book.map(({ move, value }) => make("span", {}, this.move(move), ` ${valueText(value)} `)))] : []),
      ...notes.map((note) => make("blockquote", {}, [note.title, note.comment, ...note.labels.map(({ cell, text }) => `${app.nameOf(cell)}: ${text}`)].filter(Boolean).join("\n") || "marked")));
    const rows = this.sorted(known);
    find("known-moves").hidden = !rows.length;
    find("known-next").replaceChildren(...rows.map(({ move, value, depth, games }) => make("tr", {}, make("td", {}, this.move(move)),
      ...[value === null ? "" : valueText(value), depth === null ? "" : depth, games || ""].map((text) => make("td", {}, String(text))))));
  }

  sorted(known) {
    return (known?.next || []).slice().sort((a, b) => (b.value ?? -1e6) - (a.value ?? -1e6) || b.games - a.games);
  }

  move(cell) { return button(this.app.nameOf(cell), () => this.app.click(cell), { class: "node" }); }

  words(known) {
    const words = [], { games } = known, count = games.black_wins + games.draws + games.white_wins;
    if (known.value !== null) {
      const who = Math.abs(known.value) >= WIN_BAND ? valueText(known.value) : `${BOUNDS[known.bound]}${valueText(known.value)}`;
      words.push(`${SIDES[this.app.tree.toMove(this.app.node)]} ${who}`, `depth ${known.depth}`);
      if (known.nodes) words.push(`${short(known.nodes)} nodes`);
      if (known.proof) words.push(PROOFS[known.proof] || known.proof);
      if (known.version) words.push(known.version + (known.weights ? `, ${known.weights}` : ""));
    }
    if (count) words.push(`${count} game${count > 1 ? "s" : ""}: black won ${games.black_wins} (${percent(games.black_wins / count)}), drawn ${games.draws}, white won ${games.white_wins}`);
    return words;
  }

  marks() {
    const { known } = this.app.node;
    if (this.app.tab !== this.name || this.app.isQuiet || !known?.next?.length || !isChecked("known-on-board")) return null;
    const rows = this.sorted(known);
    return { labels: rows.map(({ move, value, games }, rank) => ({ cell: move, best: rank === 0 && value > 0, text: value === null ? games || "·" : valueText(value).replace("+", "") })) };
  }
}
