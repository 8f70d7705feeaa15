// A game as a tree of moves: the line that is looked at, variations, comments, transpositions.

export const SIDES = ["black", "white"];

export class Node {
  constructor(tree, parent, cell) {
    this.parent = parent;
    this.cell = cell;
    this.children = [];
    this.comment = "";
    this.notes = {}; // title, labels and mark of a file, kept for the next one
    this.ply = parent ? parent.ply + 1 : 0;
    this.side = parent ? (tree.first + parent.ply) % 2 : null; // who made the move
    this.facts = null; // what the rules say, once the server was asked
    // The same stones give the same key, in whatever order they came.
    this.key = parent ? [...parent.key.split(";").filter(Boolean), `${this.side}:${cell}`].sort().join(";") : "";
  }

  get path() {
    const nodes = [];
    for (let node = this; node.parent; node = node.parent) nodes.unshift(node);
    return nodes;
  }

  get moves() { return this.path.map((node) => node.cell); }

  // The moves up to here as a tree, without what was written beside them.
  get line() { return this.moves.map(([x, y], at) => ({ parent: at - 1, x, y })); }

  get end() {
    let node = this;
    while (node.children.length) node = node.children[0];
    return node;
  }
}

function drop(list, item) { list.splice(list.indexOf(item), 1); }

export class GameTree {
  // start: {width, height, rule, placed, first: "black" or "white"}
  constructor(start = {}) {
    this.start = { placed: [], first: "black", ...start };
    this.first = SIDES.indexOf(this.start.first);
    this.names = {};
    this.id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    this.began = Date.now() / 1000;
    this.match = null; // a game against Numoku that goes on: who plays what, the clocks
    this.places = new Map(); // key -> nodes with this position
    this.root = this.add(null, null);
  }

  add(parent, cell) {
    const node = new Node(this, parent, cell);
    if (parent) parent.children.push(node);
    this.places.set(node.key, [...this.transpositions(node), node]);
    return node;
  }

  // The node after a move; it is new unless the move is there already.
  play(node, cell) {
    const known = node.children.find((child) => child.cell[0] === cell[0] && child.cell[1] === cell[1]);
    return known || this.add(node, cell);
  }

  transpositions(node) { return (this.places.get(node.key) || []).filter((other) => other !== node); }

  remove(node) {
    drop(node.parent.children, node);
    for (const gone of this.nodes(node)) drop(this.places.get(gone.key), gone);
  }

  promote(node) {
    for (let at = node; at.parent; at = at.parent) {
      drop(at.parent.children, at);
      at.parent.children.unshift(at);
    }
  }

  nodes(from = this.root) {
    const found = [], waiting = [from];
    while (waiting.length) {
      const node = waiting.pop();
      found.push(node);
      waiting.push(...node.children.slice().reverse());
    }
    return found;
  }

  position(node) { return { ...this.start, moves: node.moves }; }

  toMove(node) { return (this.first + node.ply) % 2; }

  // Everything of a game, with the place of the move that is looked at; documented() takes it back.
  document(at) {
    const { id, began, start, names, root, match } = this;
    return { game: id, began, position: { ...start, moves: [] }, tree: this.flat(), names, comment: root.comment, root: root.notes, match, at: this.nodes().indexOf(at) };
  }

  static documented({ game: id, began, position, tree: rows, names, comment, root, match, at }) {
    const { moves, ...start } = position, tree = new GameTree(start), made = [];
    for (const { parent, x, y, comment: words, ...notes } of rows) {
      made.push(Object.assign(tree.add(made[parent] || tree.root, [x, y]), { comment: words || "", notes }));
    }
    Object.assign(tree.root, { comment: comment || "", notes: root || {} });
    Object.assign(tree, { id: id || tree.id, began: began || tree.began, names: names || {}, match: match || null });
    return { tree, node: tree.nodes()[at] || tree.root };
  }

  get isEmpty() { return !this.root.children.length && !this.start.placed.length && !this.root.comment; }

  flat() {
    const place = new Map([[this.root, -1]]), rows = [];
    for (const node of this.nodes().slice(1)) {
      place.set(node, rows.length);
      rows.push({ parent: place.get(node.parent), x: node.cell[0], y: node.cell[1], comment: node.comment, ...node.notes });
    }
    return rows;
  }
}
