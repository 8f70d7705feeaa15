// The games that were played or looked at: each is kept, and can be taken up again.

import { Panel, find, make } from "./dom.js";
import { GameTree } from "./tree.js";

const PAUSE = 1000; // milliseconds after the last change
const LARGE = 3000; // moves of a tree that is kept only when another game takes its place

export class GamesPanel extends Panel {
  constructor(app) {
    super(app, "games");
    this.former = null; // the game that was replaced last, and the move that was looked at
    this.unsaved = new Map(); // what could not be sent to the server yet
  }

  onopen() { this.fill(); }

  onserver() {
    for (const document of this.unsaved.values()) this.save(document);
    if (!this.element.hidden) this.fill();
  }

  // The game has changed: it is kept when that has been so for a moment.
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const { app } = this;
      if (!app.away && app.tree.nodes().length < LARGE) this.keep(app.tree, app.node);
    }, PAUSE);
  }

  // Another game takes the place of this one.
  replaced(tree, node) {
    if (tree.isEmpty) return;
    this.former = { tree, node };
    this.keep(tree, node);
  }

  keep(tree, node) {
    clearTimeout(this.timer);
    if (!tree.isEmpty) this.save(tree.document(node));
  }

  async save(document) {
    this.unsaved.set(document.game, document);
    const { error, lost } = await this.app.server.ask("keep", document);
    if (lost) return; // asked again with the next connection
    if (error) this.say(`not kept: ${error}`);
    if (this.unsaved.get(document.game) === document) this.unsaved.delete(document.game);
    if (!this.element.hidden) this.fill();
  }

  async open(id) {
    const { app } = this, { tree } = app.away || app;
    if (id === tree.id) return app.away ? app.giveBack() : null;
    const kept = await this.tried(app.server.ask("game", { game: id }));
    if (!kept) return null;
    const { tree: found, node } = GameTree.documented(kept);
    return app.show(found, node);
  }

  async fill() {
    const found = await this.tried(this.app.server.ask("games"), true), here = (this.app.away || this.app).tree.id;
    const games = found?.games, filled = JSON.stringify([games, here]);
    if (!games || filled === this.filled) return; // a click may be on its way
    this.filled = filled;
    find("game-list").replaceChildren(...games.map((game) => make("li", {}, make("button", {
      type: "button", class: "line", "aria-current": game.game === here ? "true" : null, onclick: () => this.open(game.game),
    }, make("span", { class: "when" }, new Date(1000 * game.began).toLocaleString([], { dateStyle: "short", timeStyle: "short" })),
    make("span", { class: "pv" }, this.words(game))))));
  }

  words({ width, height, rule, moves, black, white, result, going }) {
    const players = black || white ? `${black || "?"} – ${white || "?"}, ` : "";
    return `${players}${rule.replace("_", " ")} ${width}×${height}, ${moves} moves${result ? ", " + result : going ? ", goes on" : ""}`;
  }
}
