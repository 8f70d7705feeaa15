// The moves of the game next to the board, with variations, comments, marks and the curve.

import { element } from "./draw.js";
import { Panel, asked, button, find, make, refill, unpressed } from "./dom.js";
import { t } from "./words.js";
import { SIDES } from "./tree.js";

export const SIGNS = { inaccuracy: "?!", mistake: "?", blunder: "??" };
const WIDE = 1000, TALL = 100; // of the curve, as in the page

export class MovesPanel extends Panel {
  name = "moves";
  tree = find("variations");
  comment = find("comment");
  curve = find("curve");

  constructor(app) {
    super(app);
    this.comment.addEventListener("input", () => { app.node.comment = this.comment.value; app.save(); });
    this.comment.addEventListener("change", () => app.known.comment(this.commented));
    this.element.addEventListener("click", ({ target }) => app.visit(this.nodes[target.closest("[data-at]")?.dataset.at]));
    this.curve.addEventListener("click", ({ clientX }) => {
      const { left, width } = this.curve.getBoundingClientRect();
      this.visit(Math.round(((clientX - left) / width) * app.node.end.ply));
    });
  }

  // A position of the line that is looked at.
  visit(ply) { this.app.visit([this.app.tree.root, ...this.app.node.end.path][ply]); }

  step(name) {
    const { node, tree } = this.app;
    this.app.visit({ first: tree.root, undo: node.parent, redo: node.children[0], last: node.end }[name]);
  }

  onnode() { this.show(); }

  promote() {
    this.app.tree.promote(this.app.node);
    this.app.go(this.app.node);
  }

  // A move with all that follows, which is more than can be put again.
  async remove() {
    const { app } = this, { node, tree } = app;
    if (node.children.length && !await asked(t("delete-ask", { name: `${node.ply}. ${app.nameOf(node.cell)} …` }), t("delete"))) return;
    if (app.node === node) app.visit(tree.remove(node));
  }

  show() {
    const { app } = this;
    this.commented = app.node;
    this.comment.value = app.node.comment;
    find("promote").disabled = find("delete").disabled = !app.node.parent;
    unpressed(this.element, () => this.showTree());
  }

  // The moves as buttons, which name their place in this.nodes; one of them is chosen, and scrolled
  // to without moving the page.
  showTree() {
    const { app } = this, nodes = this.nodes = app.tree.nodes(), places = this.places = new Map(nodes.map((node, at) => [node, at]));
    const hasFocus = this.tree.contains(document.activeElement), words = (node) => [places.get(node), node.ply, ...this.words(node)];
    refill(this.tree, nodes[0].end.path.flatMap((node) => [[words(node), () => this.item(node)],
      ...node.parent.children.slice(1).map((other) => [app.tree.nodes(other).map(words), () => this.variation(other)])]));
    const select = (item, isChosen) => { // one of them is reached by Tab
      item?.setAttribute("aria-selected", isChosen);
      item?.setAttribute("tabindex", isChosen ? 0 : -1);
    };
    const chosen = this.tree.querySelector(`[data-at="${places.get(app.node)}"]`);
    select(this.tree.querySelector("[aria-selected=true]"), false);
    select(chosen, true);
    if (hasFocus) chosen?.focus({ preventScroll: true });
    if (chosen) this.tree.scrollTop += Math.min(chosen.offsetTop - this.tree.offsetTop - this.tree.scrollTop, 0) || Math.max(chosen.offsetTop + chosen.offsetHeight - this.tree.offsetTop - this.tree.clientHeight - this.tree.scrollTop, 0);
    const others = app.tree.transpositions(app.node).filter((node) => node.parent);
    find("transpositions").replaceChildren(...(others.length ? [`${t("same-position")} `] : []), ...others.slice(0, 5).map((node) =>
      button(app.names(node.moves.slice(-6)), null, { class: "node", "data-at": places.get(node) })));
  }

  // Black's chance to win over the line, dark from below, as far as a review or the analysis knows it;
  // and the moves that stand out.
  refresh() {
    const { app, curve } = this, line = [app.tree.root, ...app.node.end.path], shown = app.isQuiet ? [] : line;
    const x = (node) => ((node.ply / Math.max(1, line.length - 1)) * WIDE).toFixed(1), known = shown.filter((node) => app.tree.chanceAt(node) !== null);
    const upright = (node, style, end) => element("line", { class: style, x1: x(node), x2: x(node), y1: 0, y2: end }, curve);
    curve.replaceChildren();
    if (known.length > 1) {
      const points = known.map((node) => `L${x(node)} ${((1 - app.tree.chanceAt(node)) * TALL).toFixed(1)}`).join("");
      element("path", { class: "area", d: `M${x(known[0])} ${TALL}${points}L${x(known.at(-1))} ${TALL}Z` }, curve);
    }
    element("line", { class: "half", x1: 0, x2: WIDE, y1: TALL / 2, y2: TALL / 2 }, curve);
    for (const node of shown) {
      const { kind, decisive } = node.review || {};
      if (SIGNS[kind] || decisive) upright(node, `tick ${decisive ? "decisive" : kind}`, 14);
    }
    upright(app.node, "now", TALL);
  }

  // A line of moves behind the one that it replaces, with variations of its own.
  variation(from) {
    const rest = from.end.path.slice(from.ply).flatMap((node) => [this.item(node), ...node.parent.children.slice(1).map((other) => this.variation(other))]);
    return make("div", { class: "inner", role: "group" }, this.item(from), ...rest);
  }

  // The name of a move, what a review says of it, what else is known, and its comment.
  words(node) {
    const { app } = this, more = [node.notes.title, app.tree.transpositions(node).length && "=", node.comment && "…"];
    return [app.nameOf(node.cell), (!app.isQuiet && node.review?.kind) || "", more.filter(Boolean).map((text) => ` ${text}`).join(""), node.comment];
  }

  item(node) {
    const [name, kind, more, title] = this.words(node), sign = SIGNS[kind];
    return button("", null, {
      class: `node ${kind}`, "data-at": this.places.get(node), role: "treeitem", "aria-selected": "false", tabindex: -1, title: title || null,
      "aria-label": t("move-label", { n: node.ply, cell: name, side: SIDES[node.side], kind: sign ? t(`${kind}-count`, { n: 1 }) : "" }),
    }, make("small", {}, `${node.ply}.`), ` ${name}`, sign ? make("span", { class: "sign" }, sign) : "", more);
  }
}
