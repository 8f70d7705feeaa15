// The moves of the game with their variations, comments and transpositions.

import { Panel, button, make, row } from "./dom.js";

export class MovesPanel extends Panel {
  constructor(app) {
    super(app, "moves", "Moves");
    this.tree = make("div", { id: "variations", class: "variations", role: "tree", "aria-label": "moves and variations" });
    this.comment = make("textarea", { id: "comment", rows: 3, "aria-label": "comment on this move", placeholder: "a comment on this move" });
    this.comment.addEventListener("input", () => { this.app.node.comment = this.comment.value; this.app.save(); });
    this.comment.addEventListener("change", () => this.app.known.comment(this.commented));
    this.same = make("p", { id: "transpositions", class: "about" });
    this.element = make("div", { class: "panel" },
      this.tree, this.same, this.comment,
      row(
        button("Make this the main line", () => this.promote(), { id: "promote" }),
        button("Delete from here", () => this.remove(), { id: "delete" }),
      ),
    );
  }

  onopen() { if (!this.element.hidden) this.show(); }

  oncomment() { this.onopen(); }

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
    this.same.replaceChildren(...(others.length ? ["the same position comes after ", ...others.slice(0, 5).map((node) =>
      button(this.path(node), () => app.visit(node), { class: "node" }))] : []));
    this.tree.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  path(node) { return node.moves.slice(-6).map((cell) => this.app.nameOf(cell)).join(" "); }

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
    const { app } = this, isHere = node === app.node;
    const more = node.comment ? " …" : "";
    const same = app.tree.transpositions(node).length ? " =" : "";
    const text = `${node.ply}. ${app.nameOf(node.cell)}${node.notes.title ? " " + node.notes.title : ""}${same}${more}`;
    return button(text, () => app.visit(node), {
      class: "node", role: "treeitem", "aria-selected": String(isHere), title: node.comment || null,
      "aria-label": `${text}, ${["black", "white"][node.side]}${node.comment ? ", commented" : ""}`,
    });
  }
}
