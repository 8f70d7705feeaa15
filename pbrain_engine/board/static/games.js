// The games that were played: each is kept, can be found, named, deleted, and taken up again.

import { Panel, asked, button, fillList, find, make, refill } from "./dom.js";
import { RULES } from "./setup.js";
import { GameTree } from "./tree.js";
import { boardName, language, t } from "./words.js";

const PAUSE = 1000; // milliseconds after the last change
const LARGE = 3000; // moves of a tree that is kept only when another game takes its place
export const RESULTS = { "1-0": "black-won", "0-1": "white-won", "1/2-1/2": "draw", open: "going-on" };

export class GamesPanel extends Panel {
  name = "games";
  former = null; // the move that was looked at of the game that was replaced last
  keeping = {}; // of each game the question that keeps it

  constructor(app) {
    super(app);
    fillList(find("games-rule"), [["", t("any-rule")], ...RULES.map((rule) => [rule, t(`rule-${rule}`)])]);
    fillList(find("games-result"), [["", t("any-result")], ...Object.entries(RESULTS).map(([result, name]) => [result, t(name)]), ["looked", t("looked-at")]]);
  }

  onopen() { this.fill(); }

  // The game has changed: it is kept when that has been so for a moment.
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const { app } = this;
      if (!app.away && app.tree.nodes().length < LARGE) this.keep(app.node);
    }, PAUSE);
  }

  // Another game takes the place of this one.
  replaced(node) {
    if (node.tree.isEmpty) return;
    this.former = node;
    this.keep(node);
  }

  async keep(node) {
    const { server } = this.app, { tree } = node, { id } = tree;
    clearTimeout(this.timer);
    if (tree.isEmpty || tree.isGone || tree.isUnchanged) return;
    const question = server.ask("keep", { ...tree.document(node), match: tree.goesOn });
    server.stop(this.keeping[id]); // what has waited for the server since is old
    this.keeping[id] = question.id;
    const { error, stopped } = await question;
    if (error && !stopped) this.say(t("not-kept", { why: error }));
    if (!this.element.hidden) this.fill();
  }

  async open(id) {
    const { app } = this, { tree } = app.game;
    if (id === tree.id) return app.away ? app.giveBack() : null;
    const kept = await this.tried(app.server.ask("game", { game: id }));
    return kept && app.show(GameTree.documented(kept));
  }

  async delete(game) {
    if (!await asked(t("delete-ask", { name: this.title(game) }), t("delete"))) return;
    const { tree } = this.app.game;
    if (tree.id === game.game) tree.isGone = true; // it is not kept again
    await this.tried(this.app.server.ask("delete_game", { game: game.game }));
    this.fill();
  }

  // The name of a game becomes a field until another one is entered.
  rename(game, place) {
    const end = async () => {
      const title = input.value.trim(), { tree } = this.app.game;
      input.onblur = this.naming = null;
      if (tree.id === game.game) tree.title = title;
      await this.tried(this.app.server.ask("rename_game", { game: game.game, title }));
      this.fill();
    };
    const input = this.naming = make("input", { type: "text", value: game.title || this.title(game), "aria-label": t("rename") });
    input.onblur = end;
    input.onkeydown = ({ key }) => {
      if (key === "Escape") input.value = game.title || "";
      if (key === "Escape" || key === "Enter") end();
    };
    place.parentNode.told = null; // it does not stay as it is
    place.replaceWith(input);
    input.select();
  }

  async fill() {
    const [search, rule, result] = ["search", "rule", "result"].map((name) => find(`games-${name}`).value);
    const wanted = { search, ...(rule && { rule }), ...(result === "looked" ? { all: true } : result && { result }) };
    const found = await this.tried(this.app.server.ask("games", wanted)), here = this.app.game.tree.id;
    const games = found?.games?.filter((game) => result !== "looked" || game.played === false);
    if (!games || this.naming) return;
    this.say(games.length ? "" : t("no-games"));
    refill(find("game-list"), games.map((game) => [[game, game.game === here], () => {
      const line = button("", () => this.open(game.game), { class: "line", "aria-current": game.game === here ? "true" : null },
        make("span", { class: "title" }, this.title(game)), make("span", { class: "when" }, this.words(game)));
      return make("li", {}, line, button("✎", () => this.rename(game, line), { class: "plain", "aria-label": t("rename"), title: t("rename") }),
        button("✕", () => this.delete(game), { class: "plain", "aria-label": t("delete"), title: t("delete") }));
    }]));
  }

  title({ title, black, white }) { return title || (black || white ? `${black || "?"} – ${white || "?"}` : t("position")); }

  words({ moves, result, going, began, ...board }) {
    const when = new Date(1000 * began).toLocaleString(language, { dateStyle: "short", timeStyle: "short" });
    return [when, boardName(board), t("n-moves", { n: moves }), result ? t(RESULTS[result] ?? result) : going ? t("going-on") : ""].filter(Boolean).join(" · ");
  }
}
