// A game as a tree of moves: the line that is looked at, variations, comments, transpositions.

import { nameOf, readCells } from "./draw.js";

export const SIDES = ["black", "white"];

export class Node {
  constructor(tree, parent, cell) {
    this.tree = tree;
    this.parent = parent;
    this.cell = cell;
    this.children = [];
    this.comment = "";
    this.notes = {}; // title, labels and mark of a file, kept for the next one
    this.ply = parent ? parent.ply + 1 : 0;
    this.side = parent ? tree.toMove(parent) : null; // who made the move
    this.facts = null; // what the rules say, once the server was asked
    this.found = null; // what the analysis says
    this.review = null; // what a review says of the move
    this.after = null; // black's chance after it, by a review
    this.step = null; // of a proof: the win, and what its defences lead to
    this.key = this.keyOf();
  }

  // The same stones give the same key, in whatever order they came.
  keyOf() {
    const { parent, side, cell } = this;
    return parent ? [...parent.key.split(";").filter(Boolean), `${side}:${cell}`].sort().join(";") : "";
  }

  get path() { return this.parent ? [...this.parent.path, this] : []; }

  // Whether the rules say that the game ends here.
  get isOver() { return Boolean(this.facts?.winner || this.facts?.full); }

  get moves() { return this.path.map((node) => node.cell); }

  // The moves up to here as a tree, without their comments and marks.
  get line() { return this.moves.map(([x, y], at) => ({ parent: at - 1, x, y })); }

  get end() { return this.children[0]?.end ?? this; }
}

export const isSame = (cell, other) => String(cell) === String(other);

function drop(list, item) { list.splice(list.indexOf(item), 1); }

export class GameTree {
  // start: {width, height, rule, placed, first: "black" or "white"}
  constructor(start = {}) {
    this.names = {};
    this.id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    this.began = Date.now() / 1000;
    this.match = null; // of a game: who plays what, the settings, the clocks
    this.played = false; // a game; else a position that was only looked at
    this.places = new Map(); // key -> nodes with this position
    this.begin({ placed: [], first: "black", ...start });
    this.root = this.add(null, null);
  }

  // The position before the first move.
  begin(start) {
    this.start = start;
    if (this.root) Object.assign(this.root, { facts: null, found: null, known: null });
  }

  add(parent, cell) {
    const node = new Node(this, parent, cell);
    if (parent) parent.children.push(node);
    this.places.set(node.key, [...this.transpositions(node), node]);
    return node;
  }

  // The node after a move; it is new unless the move is there already.
  play(node, cell) {
    return node.children.find((child) => isSame(child.cell, cell)) || this.add(node, cell);
  }

  // Play one move after another; the node of the last one.
  playLine(node, cells) { return cells.reduce((at, cell) => this.play(at, cell), node); }

  transpositions(node) { return (this.places.get(node.key) || []).filter((other) => other !== node); }

  // Remove a move with all that follows; the position before it.
  remove(node) {
    drop(node.parent.children, node);
    for (const gone of this.nodes(node)) drop(this.places.get(gone.key), gone);
    return node.parent;
  }

  promote(node) {
    for (let at = node; at.parent; at = at.parent) {
      drop(at.parent.children, at);
      at.parent.children.unshift(at);
    }
  }

  nodes(from = this.root, found = []) {
    found.push(from);
    for (const child of from.children) this.nodes(child, found);
    return found;
  }

  // Black's chance to win in a position, or null where nothing is known of it.
  chanceAt(node) {
    const { after, found, facts } = node;
    if (facts?.winner) return facts.winner === "black" ? 1 : 0;
    if (after !== null) return after;
    if (!found?.lines?.length) return null;
    return this.toMove(node) ? 1 - found.chance : found.chance;
  }

  // Turn or shift all that there is: image gives the new place of a cell.
  transform(image, width, height) {
    const { start } = this, put = (place) => { [place.x, place.y] = image([place.x, place.y]); };
    Object.assign(start, { width, height });
    start.placed.forEach(put);
    this.places.clear();
    for (const node of this.nodes()) {
      if (node.parent) node.cell = image(node.cell);
      node.notes.labels?.forEach(put);
      if (node.notes.drawn) node.notes.drawn = node.notes.drawn.split(" ").map((word) => readCells(word).map((cell) => nameOf(image(cell))).join("")).join(" ");
      Object.assign(node, { facts: null, found: null, review: null, after: null, known: null, step: null, key: node.keyOf() });
      this.places.set(node.key, [...(this.places.get(node.key) || []), node]);
    }
  }

  // The end of a game of its own with the moves up to a node, perhaps on another board.
  upTo(node, board = {}) {
    const made = new GameTree({ ...structuredClone(this.start), ...board });
    made.names = { ...this.names };
    return made.playLine(made.root, node.moves);
  }

  position(node) { return { ...this.start, moves: node.moves }; }

  // Those that were set up, then the moves.
  stones(node) { return [...this.start.placed, ...node.path.map(({ cell: [x, y], side }) => ({ x, y, side: SIDES[side] }))]; }

  toMove(node) { return (SIDES.indexOf(this.start.first) + node.ply) % 2; }

  // Everything of a game, with the place of the move that is looked at; documented() gives
  // that move back.
  document(at) {
    const { id, began, start, names, root, match, played, title, isUnchanged: unchanged } = this;
    return { game: id, began, position: { ...start, moves: [] }, tree: this.flat(), names, comment: root.comment, root: root.notes, match, at: this.nodes().indexOf(at), title: title || "", looked: !played && !this.nodes().some(({ comment, notes }) => comment && comment !== notes.stored), unchanged };
  }

  static documented({ game: id, began, position, tree: rows, names, comment, root, match, at, title, looked, unchanged }) {
    const { moves, ...start } = position, tree = new GameTree(start), made = [];
    for (const { parent, x, y, comment: words, ...notes } of rows) {
      made.push(Object.assign(tree.add(made[parent] || tree.root, [x, y]), { comment: words || "", notes }));
    }
    Object.assign(tree.root, { comment: comment || "", notes: root || {} });
    Object.assign(tree, { id: id || tree.id, began: began || tree.began, names: names || {}, match: match || null, title, played: looked === undefined ? Boolean(match || names?.black) : !looked });
    if (unchanged) tree.unchanged = JSON.stringify(tree.flat());
    return tree.nodes()[at] || tree.root;
  }

  // Whether it is still as it came, of a file of several games.
  get isUnchanged() { return this.unchanged === JSON.stringify(this.flat()); }

  // What a game needs to go on; null if it has ended.
  get goesOn() { return this.names.result ? null : this.match; }

  get isEmpty() { return !this.root.children.length && !this.start.placed.length && !this.root.comment; }

  flat() {
    const nodes = this.nodes().slice(1), places = new Map(nodes.map((node, at) => [node, at]));
    return nodes.map(({ parent, cell: [x, y], comment, notes }) => ({ parent: places.get(parent) ?? -1, x, y, comment, ...notes }));
  }
}
