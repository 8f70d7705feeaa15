// Games in and out: files, the clipboard, links, pictures; and how the board is shown.

import * as address from "./address.js";
import { Panel, button, checkbox, copy, download, make, remember, remembered, row } from "./dom.js";
import { GameTree } from "./tree.js";

const MOST_FILE = 1_500_000;

export class FilePanel extends Panel {
  constructor(app) {
    super(app, "file", "File");
    this.file = make("input", { type: "file", id: "game-file", accept: ".sgf,.psq,.lib,.txt", "aria-label": "game file", onchange: () => this.open() });
    this.text = make("textarea", { id: "game-text", rows: 5, "aria-label": "a game as text", placeholder: "or paste moves such as h8i9, a drawing, SGF or PSQ" });
    this.status = make("p", { id: "file-status", "aria-live": "polite" });
    const shown = (name, otherwise, text, id) => checkbox(id, text, remembered(name, otherwise), (event) => { remember(name, event.target.checked); app.go(app.node); });
    this.blocking = checkbox("block-cells", "Clicks block cells, before the first move", false);
    this.element = make("div", { class: "panel" },
      make("h2", {}, "Load"), this.file, this.text,
      row(button("Show this text", () => this.readText(), { id: "read-text", class: "main" })),
      make("h2", {}, "Save and copy"),
      row(
        button("SGF with variations", () => this.save("sgf"), { id: "save-sgf" }),
        button("PSQ", () => this.save("psq"), { id: "save-psq" }),
        button("RenLib", () => this.save("lib"), { id: "save-lib" }),
        button("Picture, SVG", () => this.svg(), { id: "save-svg" }),
        button("Picture, PNG", () => this.png(), { id: "save-png" }),
      ),
      row(
        button("Copy moves", () => this.copyMoves(), { id: "copy-moves" }),
        button("Copy drawing", () => this.copyDrawing(), { id: "copy-drawing" }),
        button("Copy link", () => this.copyLink(), { id: "copy-link" }),
      ),
      this.status,
      make("h2", {}, "Board"),
      shown("fromBottom", false, "Count rows from the bottom", "from-bottom"),
      shown("numbers", true, "Numbers on the stones", "numbers"),
      shown("sound", false, "Sound of the stones", "sound"),
      this.blocking,
    );
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer.files[0]) this.open(event.dataTransfer.files[0]);
    });
  }

  get isBlocking() { return !this.element.hidden && this.blocking.firstChild.checked; }

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

  async open(file = this.file.files[0]) {
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
    try {
      const { position, tree, names, comment, root, remarks } = await this.app.server.ask("read", content);
      const { moves, ...start } = position, game = GameTree.from(start, tree, names);
      game.root.comment = comment;
      game.root.notes = root;
      this.app.show(game, game.root.end);
      this.say([`${name}: ${tree.length} moves`, ...remarks].join("; "));
      return true;
    } catch (error) {
      this.say(`${name}: ${error.message}`);
      this.app.say(`${name}: ${error.message}`, true);
      return false;
    }
  }

  async write(format) {
    const { app } = this, { tree } = app;
    // What is drawn is the position on the board, not the end of the main line.
    const rows = format === "diagram" ? app.node.moves.map(([x, y], at) => ({ parent: at - 1, x, y })) : tree.flat();
    const answer = await app.server.ask("write", { format, position: tree.position(tree.root), tree: rows, names: tree.names, comment: tree.root.comment, root: tree.root.notes });
    this.losses = answer.losses;
    return answer.text ?? Uint8Array.from(atob(answer.data), (sign) => sign.charCodeAt(0));
  }

  async save(format) {
    const content = await this.tried(this.write(format));
    if (content === null) return;
    download(`numoku.${format}`, format === "lib" ? "application/octet-stream" : "text/plain", content);
    this.say([`saved numoku.${format}`, ...this.losses].join("; "));
  }

  async copyDrawing() {
    const drawing = await this.tried(this.write("diagram"));
    if (drawing === null) return;
    await copy(drawing);
    this.say("the drawing is copied");
  }

  // Moves count rows as the board does, and can be pasted again; links count them from the top.
  async copyMoves() {
    const text = this.app.node.moves.map((cell) => this.app.nameOf(cell)).join("");
    await copy(text);
    this.say(`copied ${text || "no moves: the board is empty"}`);
  }

  async copyLink() {
    const link = location.origin + location.pathname + address.write(this.app.tree, this.app.node);
    await copy(link);
    this.say(`copied ${link}`);
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

async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
