// What the database knows of the position that is looked at; games and comments go into it.

import { WIN_BAND } from "./draw.js";
import { Panel, button, find, isChecked, make, refill } from "./dom.js";
import { openingName, percent, short, t, worth, worthSign } from "./words.js";

const PAUSE = 120; // milliseconds after a move, so that the search begins first

export class KnownPanel extends Panel {
  name = "known";
  isThere = false;

  showAnew() { this.app.draw(); }

  onserver(about) {
    this.isThere = about.database;
    find("tab-known").hidden = !this.isThere;
    if (!this.isThere && this.app.tab === this.name) this.app.openTab("play");
    else this.onnode(this.app.node);
  }

  onnode(node) {
    clearTimeout(this.timer);
    this.say("");
    this.show();
    if (this.isThere) this.timer = setTimeout(() => this.ask(node), PAUSE);
  }

  async ask(node) {
    const { app } = this, known = await this.tried(app.ask("known", {}, null, node));
    if (!known) return;
    node.known = known;
    this.takeComment(node);
    if (app.node !== node) return;
    if (known.trouble) this.say(known.trouble);
    this.show();
    if (app.tab === this.name) app.draw();
  }

  // What was written before is restored next to the move, unless something is there.
  takeComment(node) {
    if (!node.known || this.app.isQuiet) return;
    const [only, ...more] = node.known.notes.map((note) => note.comment).filter(Boolean);
    if (!only || more.length || (node.comment && node.comment !== only)) return;
    node.comment = node.notes.stored = only;
    if (this.app.node === node) this.app.moves.show();
  }

  // The comment on a move, sent when a person has finished it.
  async comment(node) {
    const { notes } = node, before = notes.stored || "", after = node.comment;
    if (!this.isThere || before === after) return null;
    notes.stored = after;
    const { error } = await this.app.ask("comment", { before, after }, null, node);
    if (!error) return this.ask(node);
    notes.stored = before;
    return this.app.say(t("comment-not-stored", { why: error }), true);
  }

  async storeAll() {
    const { tree } = this.app;
    for (const node of tree.nodes()) if (node.notes.stored) await this.comment(node); // what has been stored is replaced
    if (await this.store(tree.flat(), tree.root.comment, tree.root.notes)) for (const node of tree.nodes()) node.notes.stored = node.comment || undefined;
  }

  async store(rows, comment, root = {}) {
    const { app } = this, { tree } = app;
    if (!this.isThere) return false;
    const done = await this.tried(app.ask("store", { tree: rows, names: tree.names, comment, root }, null, tree.root));
    if (!done) return false;
    this.say(t(done.games || done.moves || done.isAgain ? "stored" : comment || rows[0] ? "stored-already" : "no-moves"));
    this.ask(app.node);
    return true;
  }

  // View ---

  show() {
    const { app } = this, known = app.isQuiet ? null : app.node.known;
    const words = known?.known ? this.words(known) : [];
    find("known-line").textContent = words.length ? `${t("tab-known")}: ${words.join(" · ")}` : "";
    if (this.element.hidden) return;
    const notes = known?.notes || [];
    find("known-found").replaceChildren(make("p", {}, !known ? "–" : words.join(" · ") || t(known.known ? "known-only" : "known-nothing")),
      ...(known?.opening ? [make("p", { class: "about" }, `${t("opening")}: ${openingName(known.opening)}`)] : []),
      ...(known?.moves?.length ? [make("p", {}, `${t("best")} `, ...known.moves.slice(0, 5).map((cell) => this.move(cell)), known.pv.length > 1 ? ` ${t("line")} ${app.names(known.pv)}` : "")] : []),
      ...(known?.book?.length ? [make("p", {}, `${t("book")} `, ...known.book.map((row) => make("span", {}, this.move(row.move), ` ${worth(row)} `)))] : []),
      ...notes.map((note) => make("blockquote", {}, [note.title, note.comment, ...note.labels.map(({ cell, text }) => `${app.nameOf(cell)}: ${text}`)].filter(Boolean).join("\n") || "✓")));
    const rows = known?.next || [];
    find("known-moves").hidden = !rows.length;
    refill(find("known-next"), rows.map((row) => [[row, app.nameOf(row.move)], () => make("tr", {}, make("td", {}, this.move(row.move)),
      ...[row.value === null ? "" : worth(row), row.depth ?? ""].map((text) => make("td", {}, String(text))), make("td", {}, ...this.results(row)))]));
  }

  // How many games went on with a move, and a bar of who won them.
  results({ games, results }) {
    if (!games) return [];
    const parts = Object.entries(results).map(([name, count]) => make("span", { class: name, style: `flex-grow: ${count}` }));
    const bar = make("span", { class: "results", role: "img", "aria-label": this.gamesText(results), title: this.gamesText(results) }, ...parts);
    return [String(games), bar];
  }

  gamesText({ black_wins: black, draws, white_wins: white }) {
    const n = black + draws + white;
    return t("games-were", { n, black, share: percent(black / n), draws, white });
  }

  move(cell) { return button(this.app.nameOf(cell), () => this.app.click(cell), { class: "node" }); }

  words(known) {
    const words = [], { games } = known;
    if (known.value !== null) {
      const bound = Math.abs(known.value) < WIN_BAND && known.bound !== "exact" ? `${t(`bound-${known.bound}`)} ` : "";
      words.push(`${t(this.app.mover)} ${bound}${worth(known)}`, t("depth-is", { depth: known.depth }));
      if (known.nodes) words.push(t("nodes-are", { n: short(known.nodes) }));
      if (known.proof) words.push(t(`proof-${known.proof}`));
      if (known.version) words.push(known.version + (known.weights ? `, ${known.weights}` : ""));
    }
    if (Object.values(games).some(Boolean)) words.push(this.gamesText(games));
    return words;
  }

  marks() {
    const { known } = this.app.node;
    if (this.app.tab !== this.name || this.app.isQuiet || !known?.next?.length || !isChecked("known-on-board")) return null;
    return { labels: known.next.map((row, rank) => ({ cell: row.move, best: rank === 0 && row.value > 0, text: row.value === null ? row.games || "·" : worthSign(row) })) };
  }
}
