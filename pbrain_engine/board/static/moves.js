// The moves of the game with their variations, comments and transpositions.

import { Panel, button, find, make } from "./dom.js";
import { SIDES } from "./tree.js";

export class MovesPanel extends Panel {
  constructor(app) {
    super(app, "moves");
    this.tree = find("variations");
    this.comment = find("comment");
    this.comment.addEventListener("input", () => { this.app.node.comment = this.comment.value; this.app.save(); });
    this.comment.addEventListener("change", () => this.app.known.comment(this.commented));
  }

  onopen() { if (!this.element.hidden) this.show(); }

  onnode() { this.onopen(); }

  promote() {
    this.app.tree.promote(this.app.node);
    this.app.go(this.app.node);
  }

  remove() {
    const { node, tree } = this.app;
    if (!node.parent) return;
    tree.remove(node);
    this.app.visit(node.parent);
  }

  show() {
    const { app } = this;
    this.commented = app.node;
    this.comment.value = app.node.comment;
    this.comment.placeholder = app.node.parent ? "a comment on this move" : "a comment on the game";
    this.tree.replaceChildren(this.branch(app.tree.root));
    const others = app.tree.transpositions(app.node).filter((node) => node.parent);
    find("transpositions").replaceChildren(...(others.length ? ["the same position comes after ", ...others.slice(0, 5).map((node) =>
      button(app.names(node.moves.slice(-6)), () => app.visit(node), { class: "node" }))] : []));
    this.tree.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  // A line of moves, the variations in brackets behind the move that they replace.
  branch(from) {
    const line = make("div", { class: "branch", role: "group" }), waiting = [[from, line]];
    while (waiting.length) {
      let [node, place] = waiting.pop();
      while (node.children.length) {
        const [main, ...others] = node.children;
        place.append(this.item(main));
        for (const other of others) {
          const inner = make("div", { class: "branch inner", role: "group" }, this.item(other));
          place.append(inner);
          waiting.push([other, inner]);
        }
        node = main;
      }
    }
    return line;
  }

  item(node) {
    const { app } = this, signs = [`${node.ply}. ${app.nameOf(node.cell)}`, node.notes.title];
    signs.push(app.tree.transpositions(node).length && "=", node.comment && "…");
    const text = signs.filter(Boolean).join(" ");
    return button(text, () => app.visit(node), {
      class: "node", role: "treeitem", "aria-selected": String(node === app.node), title: node.comment || null,
      "aria-label": `${text}, ${SIDES[node.side]}${node.comment ? ", commented" : ""}`,
    });
  }
}
