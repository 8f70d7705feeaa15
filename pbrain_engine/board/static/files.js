// Games in and out: files, the clipboard, links, pictures; and how the board is shown.

import * as address from "./address.js";
import { Panel, copy, download, find, isChecked, make } from "./dom.js";
import { GameTree } from "./tree.js";

const MOST_FILE = 1_500_000;

export class FilePanel extends Panel {
  constructor(app) {
    super(app, "file");
    this.text = find("game-text");
    find("game-file").addEventListener("change", ({ target }) => this.open(target.files[0]));
    for (const name of ["from-bottom", "numbers"]) find(name).addEventListener("change", () => app.go(app.node));
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      this.open(event.dataTransfer.files[0]);
    });
  }

  get isBlocking() { return !this.element.hidden && isChecked("block-cells"); }

  // Block a cell, or free it again.
  block([x, y]) {
    const { app } = this, { start } = app.tree;
    if (app.away || app.tree.root.children.length) return app.say("cells are blocked before the first move: begin a new game", true);
    const others = start.placed.filter((stone) => stone.x !== x || stone.y !== y);
    if (others.length === start.placed.length) others.push({ x, y, side: "wall" });
    start.placed = others;
    app.node.facts = app.node.found = null;
    return app.go(app.node);
  }

  async open(file) {
    if (!file) return;
    if (file.size > MOST_FILE) this.say(`${file.name} is too large for a game`);
    else await this.read({ data: await base64(file) }, file.name);
  }

  // Moves alone are on the board that is shown, and count rows as it does.
  readText() {
    const { width, height, rule } = this.app.tree.start;
    return this.read({ text: this.text.value, width, height, rule, from_below: this.app.fromBottom }, "the text");
  }

  // content: {text}, or {data}: the bytes of a file in base64, as only the server knows its encoding
  async read(content, name) {
    const found = await this.app.server.ask("read", content);
    if (found.error) {
      this.say(`${name}: ${found.error}`);
      return this.app.say(`${name}: ${found.error}`, true);
    }
    const { tree } = GameTree.documented(found);
    this.app.show(tree, tree.root.end);
    return this.say([`${name}: ${found.tree.length} moves`, ...found.remarks].join("; "));
  }

  write(format) {
    const { node, tree, server } = this.app, game = tree.document(node);
    if (format === "diagram") game.tree = node.line; // not up to the end of the main line
    return this.tried(server.ask("write", { ...game, format }));
  }

  async save(format) {
    const answer = await this.write(format);
    if (!answer) return;
    const content = answer.text ?? Uint8Array.from(atob(answer.data), (sign) => sign.charCodeAt(0));
    download(`numoku.${format}`, format === "lib" ? "application/octet-stream" : "text/plain", content);
    this.say([`saved numoku.${format}`, ...answer.losses].join("; "));
  }

  async copyDrawing() {
    const answer = await this.write("diagram");
    if (answer) await this.copy(answer.text, "the drawing");
  }

  // Moves count rows as the board does, and can be pasted again; links count them from the top.
  async copyMoves() {
    const text = this.app.names(this.app.node.moves, "");
    await this.copy(text, text || "no moves: the board is empty");
  }

  copyLink() { return this.copy(location.origin + location.pathname + address.write(this.app.tree, this.app.node)); }

  async copy(text, what = text) {
    await copy(text);
    this.say(`copied ${what}`);
  }

  svg() {
    download("numoku.svg", "image/svg+xml", this.app.board.picture().text);
    this.say("saved numoku.svg");
  }

  async png() {
    const { text, wide, tall } = this.app.board.picture(), image = new Image(), canvas = make("canvas", { width: wide, height: tall });
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
    await image.decode();
    canvas.getContext("2d").drawImage(image, 0, 0, wide, tall);
    canvas.toBlob((blob) => download("numoku.png", "image/png", blob));
    this.say("saved numoku.png");
  }
}

function base64(file) {
  const reader = new FileReader();
  reader.readAsDataURL(file);
  return new Promise((resolve) => { reader.onload = () => resolve(reader.result.split(",")[1] || ""); });
}
