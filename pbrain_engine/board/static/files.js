// Games in and out: files, the clipboard, links, pictures; and how the board is shown.

import * as address from "./address.js";
import { Panel, button, download, find, isChecked, make } from "./dom.js";
import { chosenBoard } from "./setup.js";
import { GameTree, SIDES, isSame } from "./tree.js";
import { boardName, said, t } from "./words.js";

const MOST_FILE = 1_500_000;
const SHIFTS = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] };

export class FilePanel extends Panel {
  name = "file";
  text = find("game-text");

  constructor(app) {
    super(app);
    for (const type of ["dragover", "drop"]) document.addEventListener(type, (event) => {
      if (!event.dataTransfer.types.includes("Files")) return; // a text, for a field
      event.preventDefault();
      const [file] = event.dataTransfer.files; // none before it is dropped
      if (file) this.open(file);
    });
  }

  // What clicks on the board put, in place of moves: "black", "white", "wall" or nothing.
  get puts() { return this.element.hidden ? "" : document.querySelector("#puts :checked").value; }

  // Put a stone or block a cell, or take it away again. Moves become stones that were set up.
  put(cell) {
    const { app } = this, side = this.puts;
    const [x, y] = cell, old = app.tree.stones(app.node), there = old.find((stone) => isSame([stone.x, stone.y], cell)), others = old.filter((stone) => stone !== there);
    return this.setUp({ placed: there?.side === side ? others : [...others, { x, y, side }], first: app.mover });
  }

  // From the dialog of a new game: an empty board, and above all else what puts stones on it.
  edit() {
    const { app } = this, editor = find("editor");
    find("setup").close();
    app.show(new GameTree(chosenBoard()).root);
    app.openTab(this.name);
    editor.querySelector("[value=black]").checked = true;
    this.element.prepend(editor);
    find("panels").scrollTop = 0;
    scrollTo(0, 0);
  }

  passTurn() {
    const { tree, node } = this.app;
    return this.setUp({ placed: tree.stones(node), first: SIDES[1 - tree.toMove(node)] });
  }

  empty() { return this.setUp({ placed: [], first: "black" }); }

  // Another position to begin with; the game that was on the board is kept.
  setUp(change) {
    const { app } = this, start = { ...app.tree.start, ...change };
    if (app.away || app.guide?.isOn) return app.say(t("turn-later"), true);
    if (app.tree.root.children.length || app.tree.match) return app.show(new GameTree(start).root);
    app.tree.begin(start);
    return app.go(app.node);
  }

  // Turn the whole game, or move it by a cell.
  turn(what) {
    const { app } = this, { width, height, placed } = app.tree.start;
    if (app.away || app.guide?.isOn) return this.say(t("turn-later"));
    const [dx, dy] = SHIFTS[what] || [0, 0], isTurned = what === "rotate";
    const image = ([x, y]) => (isTurned ? [height - 1 - y, x] : what === "mirror" ? [width - 1 - x, y] : [x + dx, y + dy]);
    const cells = [...app.tree.nodes().slice(1).map((node) => node.cell), ...placed.map(({ x, y }) => [x, y])].map(image);
    if (!isTurned && cells.some(([x, y]) => x < 0 || y < 0 || x >= width || y >= height)) return this.say(t("no-room"));
    this.say("");
    app.tree.transform(image, isTurned ? height : width, isTurned ? width : height);
    return app.go(app.node);
  }

  showAnew() { this.app.go(this.app.node); }

  async open(file) {
    if (file.size > MOST_FILE) this.say(t("too-large", { name: file.name }));
    else await this.read({ data: await base64(file), name: file.name.slice(-64) }, file.name);
  }

  // A link of this page says all; moves that name no board are on the one that is shown, and count rows as it does.
  readText() {
    const { app } = this, { width, height, rule } = app.tree.start, [link] = /#b=\S+/.exec(this.text.value) || [];
    this.say("");
    if (link) return app.begin(link);
    return this.read({ text: this.text.value, width, height, rule, from_below: isChecked("from-bottom") }, t("the-text"));
  }

  // content: {text}, or {data}: the bytes of a file in base64, as only the server knows its encoding
  async read(content, name) {
    const found = await this.app.server.ask("read", content);
    if (found.error) {
      const { rule, width, height } = found.values || {}, board = { rule, width, height };
      this.say(`${name}: ${found.error} `);
      if (rule) this.status.append(button(t("read-on", { board: boardName(board) }), () => this.read({ ...content, ...board }, name)));
      return this.app.say(`${name}: ${found.error}`, true);
    }
    return this.show(found, name, content);
  }

  // content: what it was read from, for the next one of several games
  show(found, name, content = null) {
    const { games: all } = found, { tree } = GameTree.documented({ ...found, unchanged: all > 1 }), n = content?.number || 1;
    tree.played = true;
    this.app.show(tree.root.end);
    const what = [t("n-moves", { n: found.tree.length }), boardName(tree.start), ...(all > 1 ? [t("game-of", { n, all })] : [])];
    this.say([`${name}: ${what.join(" · ")}`, ...found.remarks.map(said)].join("; "));
    if (content && all > 1) this.status.append(" ", button(t("next"), () => this.read({ ...content, number: (n % all) + 1 }, name)));
  }

  write(format) {
    const { node, tree, server } = this.app, game = tree.document(node);
    if (format === "diagram") game.tree = node.line; // not up to the end of the main line
    return this.tried(server.ask("write", { ...game, format }));
  }

  // Files are named by players and date.
  nameOf(format) {
    const { names, began } = this.app.tree, players = [names.black, names.white].filter(Boolean).join(" - ");
    return `${new Date(1000 * began).toISOString().slice(0, 10)} ${players || "Numoku"}.${format}`.replace(/[/\\:*?"<>|]/g, "_");
  }

  keep(format, type, content, losses = [], name = this.nameOf(format)) {
    download(name, type, content);
    this.say([t("saved", { name }), ...losses.map(said)].join("; "));
  }

  async save(format) {
    const answer = await this.write(format);
    if (!answer) return;
    const content = answer.text ?? Uint8Array.from(atob(answer.data), (sign) => sign.charCodeAt(0));
    this.keep(format, { lib: "application/octet-stream", svg: "image/svg+xml" }[format] || "text/plain", content, answer.losses, answer.name);
  }

  async copyDrawing() {
    const answer = await this.write("diagram");
    if (answer) await this.copy(answer.text, t("the-drawing"));
  }

  // Moves count rows as the board does, and can be pasted again; links count them from the top.
  async copyMoves() {
    const text = this.app.names(this.app.node.moves, "");
    await this.copy(text, text || t("no-moves"));
  }

  copyLink() { return this.copy(location.origin + location.pathname + address.write(this.app.node)); }

  async copy(text, what = text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // not in a page that came over plain HTTP
      const area = make("textarea", {}, text);
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    this.say(t("copied", { what }));
  }

  // The film, for what shows no SVG.
  async gif() {
    const answer = await this.write("svg");
    if (!answer) return;
    this.say(t("looking"));
    const { gifOf } = await import("./gif.js");
    this.keep("gif", "image/gif", await gifOf(answer.text), answer.losses);
  }

  svg() { this.keep("svg", "image/svg+xml", this.app.board.picture()); }

  async png() {
    const image = new Image();
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(this.app.board.picture());
    await image.decode();
    const canvas = make("canvas", { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    canvas.toBlob((blob) => this.keep("png", "image/png", blob));
  }
}

function base64(file) {
  const reader = new FileReader();
  reader.readAsDataURL(file);
  return new Promise((resolve) => { reader.onload = () => resolve(reader.result.split(",")[1] || ""); });
}
