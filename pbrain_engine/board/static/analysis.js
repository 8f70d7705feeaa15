// Live analysis of the position that is looked at, and the threats on the board.

import { SHAPE_SIGNS } from "./board.js";
import { WIN, valueText } from "./draw.js";
import { SIDES } from "./tree.js";
import { Panel, button, checkbox, fields, make, numberField, percent, remember, remembered, row, select, short } from "./dom.js";

const OVERLAYS = [["off", "off"], ["both", "both sides"], ["black", "black"], ["white", "white"]];

export class AnalysisPanel extends Panel {
  constructor(app) {
    super(app, "analyse", "Analyse");
    const kept = remembered("analysis", {});
    const changed = () => this.changed();
    this.on = checkbox("analysis-on", "Analyse while I look", kept.on ?? true, changed);
    this.lines = numberField("lines", kept.lines || 3, 1, 20);
    this.threads = numberField("threads", kept.threads || 1, 1, 64);
    this.memory = numberField("memory", kept.memory || 350, 16, 65536);
    this.nodes = make("input", { type: "number", id: "nodes", min: 1, placeholder: "no limit", value: kept.nodes || "" });
    this.search = select("search", [["alphabeta", "alpha-beta"]], "alphabeta", changed);
    for (const field of [this.lines, this.threads, this.memory, this.nodes]) field.addEventListener("change", changed);
    this.onBoard = checkbox("on-board", "Values on the board", kept.onBoard ?? true, changed);
    this.policy = checkbox("policy", "Policy as dots: what looks best before any search", kept.policy ?? false, changed);
    this.overlay = select("overlay", OVERLAYS, kept.overlay || "off", changed);
    this.winning = checkbox("winning", "Wins by fours, and what stops them", kept.winning ?? false, changed);
    this.summary = make("p", { id: "summary", class: "figures" }, "–");
    this.list = make("ol", { id: "lines-found", class: "lines" });
    this.even = make("p", { id: "balance-found", "aria-live": "polite" });
    this.legend = make("p", { id: "shape-legend", class: "about", hidden: true }, "Dark signs are black's, light ones white's: ",
      ...Object.entries(SHAPE_SIGNS).flatMap(([name, sign], at) => [at ? " · " : "", make("span", {}, `${sign} ${name}`)]));
    this.note = make("p", { id: "threat-note", class: "about" });
    this.element = make("div", { class: "panel" },
      this.on,
      this.summary,
      this.list,
      make("p", { id: "known-line", class: "about" }),
      make("details", { open: kept.open ?? false, ontoggle: changed }, make("summary", {}, "Settings"),
        fields({ "Best moves": this.lines, Search: this.search, Threads: this.threads, Megabytes: this.memory, "Positions at most": this.nodes }),
        this.onBoard, this.policy),
      make("h2", {}, "Threats"),
      fields({ "What each cell makes": this.overlay }),
      this.legend,
      this.winning,
      this.note,
      make("h2", {}, "Even chances"),
      row(button("Balanced move", () => this.balance(1), { id: "balance-one" }), button("Two balanced moves", () => this.balance(2), { id: "balance-two" })),
      this.even,
    );
    this.found = null;
    this.threats = null;
    this.pointed = null;
  }

  onopen() { this.onnode(this.app.node); }

  onclose() { if (this.isQuiet) this.onnode(this.app.node); }

  checked(label) { return label.firstChild.checked; }

  onserver(about) {
    const words = { alphabeta: "alpha-beta", mcts: "Monte Carlo tree search" };
    this.search.replaceChildren(...about.searches.map((name) => make("option", { value: name }, words[name] || name)));
    this.search.value = remembered("search", "alphabeta");
    if (!this.search.value) this.search.value = about.searches[0];
    this.threads.max = Math.max(about.threads, 1);
  }

  changed() {
    remember("search", this.search.value);
    remember("analysis", {
      on: this.checked(this.on), lines: this.lines.value, threads: this.threads.value, memory: this.memory.value, nodes: this.nodes.value,
      onBoard: this.checked(this.onBoard), policy: this.checked(this.policy), overlay: this.overlay.value, winning: this.checked(this.winning),
      open: this.element.querySelector("details").open,
    });
    this.onnode(this.app.node);
    this.app.draw();
  }

  // Position changes ---------------------------------------------------------------

  onnode(node) {
    this.found = this.isQuiet ? null : node.found || null;
    this.previewed = null;
    this.even.textContent = "";
    this.threats = null;
    this.show();
    this.analyse(node);
    this.ask(node);
  }

  get isQuiet() { return this.app.guide?.isQuiet; } // a puzzle shows nothing

  async analyse(node) {
    const { app } = this, server = app.server;
    this.isEnded = false;
    if (!this.checked(this.on) || this.isQuiet || node.facts?.winner || node.facts?.full) {
      if (this.running) server.stop(this.running);
      this.running = null;
      if (!this.found) app.setBar(this.endValue(node));
      return;
    }
    const limits = { multipv: Number(this.lines.value) || 1, threads: Number(this.threads.value) || 1, memory: Number(this.memory.value) || 350, search: this.search.value, policy: this.checked(this.policy) };
    if (Number(this.nodes.value)) limits.nodes = Number(this.nodes.value);
    const question = app.ask("analyse", limits, (event) => this.take(node, question.id, event));
    this.running = question.id;
    try {
      const found = await question;
      this.take(node, question.id, found);
      if (this.running !== question.id) return;
      this.isEnded = found.stopped;
      this.summary.dataset.state = "done";
    } catch (error) {
      if (this.running !== question.id) return;
      this.isEnded = error.stopped;
      if (!error.stopped && !error.lost) this.summary.textContent = error.message;
    } finally {
      if (this.running === question.id) this.running = null; // so that it is not stopped when something else goes on
    }
  }

  // Another question has ended the search: it goes on when that is answered.
  onidle() { if (this.isEnded) this.analyse(this.app.node); }

  // The bar of a game that is over, also where nothing is analysed.
  onfacts(node) {
    const found = this.endValue(node);
    if (found) this.app.setBar(found);
  }

  endValue({ facts }) {
    if (!facts?.winner) return facts?.full ? { value: 0, chance: 0.5, is: "a draw" } : null;
    const won = facts.winner === SIDES[this.app.tree.toMove(this.app.node)];
    return { value: won ? WIN : -WIN, chance: Number(won), is: `${facts.winner} has won` };
  }

  take(node, id, found) {
    if (this.running !== id) return;
    node.found = found;
    if (this.app.node !== node) return;
    this.found = found;
    this.summary.dataset.state = "running";
    this.show();
    this.app.draw();
  }

  async ask(node) {
    if (this.isQuiet || (this.overlay.value === "off" && !this.checked(this.winning))) return;
    try {
      const found = await this.app.ask("threats");
      if (this.app.node !== node) return;
      this.threats = found;
      this.show();
      this.app.draw();
    } catch (error) {
      if (!error.stopped && !error.lost) this.note.textContent = error.message;
    }
  }

  // One or two moves after which the chances are as even as can be.
  async balance(stones) {
    const { app } = this, { node } = app;
    this.even.textContent = "looking…";
    try {
      const found = await app.ask("balance", { stones });
      if (app.node !== node) return;
      this.even.textContent = `${found.stones.map((cell) => app.nameOf(cell)).join(" ")}, value ${valueText(found.value)}`;
      this.preview({ pv: found.stones });
    } catch (error) {
      this.even.textContent = error.stopped ? "stopped" : error.message;
    }
  }

  // View ---------------------------------------------------------------------------

  show() {
    const { app, found } = this;
    this.list.replaceChildren();
    this.note.textContent = this.threatText();
    this.legend.hidden = this.overlay.value === "off";
    if (!found?.lines?.length) {
      this.summary.textContent = "–";
      app.setBar(this.endValue(app.node));
      return;
    }
    app.setBar(found);
    const speed = found.time > 0 ? `${short(found.nodes / found.time)} nodes/s` : "";
    const side = SIDES[app.tree.toMove(app.node)];
    this.summary.replaceChildren(make("strong", {}, `${side} ${percent(found.chance)}`), make("span", {}, `value ${valueText(found.value)}`),
      make("span", {}, `depth ${found.depth}-${found.seldepth}`), make("span", {}, `${short(found.nodes)} nodes`), make("span", {}, speed), make("span", {}, `${found.time.toFixed(1)} s`),
      ...(found.network ? [make("span", { title: found.network }, "network")] : []));
    found.lines.forEach((line, rank) => {
      const words = (line.win?.line || line.pv).map((cell) => app.nameOf(cell)).join(" ");
      const item = make("li", {
        onpointerenter: () => this.preview(line), onpointerleave: () => this.preview(null),
      }, make("button", { type: "button", class: "line", onclick: () => app.click(line.move), onfocus: () => this.preview(line), onblur: () => this.preview(null) },
        make("b", {}, app.nameOf(line.move)), make("span", { class: "value" }, line.mate !== null ? valueText(line.value) : percent(line.chance)),
        make("span", { class: "pv" }, words)));
      item.dataset.rank = rank + 1;
      this.list.append(item);
    });
  }

  threatText() {
    const threats = this.threats;
    if (!threats || !this.checked(this.winning)) return "";
    const words = [];
    if (threats.wins.length) words.push(`wins by fours with ${threats.wins.map((cell) => this.app.nameOf(cell)).join(", ")}`);
    if (threats.threatened) {
      const stops = threats.rescues.map((cell) => this.app.nameOf(cell)).join(", ");
      words.push(`the enemy threatens to win by fours; ${stops ? "stopped by " + stops : threats.unknown.length ? "what stops it is not known yet" : "nothing stops it"}`);
    }
    return words.join("; ") || "no win by fours here";
  }

  onpoint(cell) {
    const line = cell && this.found?.lines?.find((one) => String(one.move) === String(cell));
    if (line || this.previewed) this.preview(line || null);
  }

  preview(line) {
    this.previewed = line;
    this.app.draw();
  }

  marks() {
    const marks = {}, found = this.found;
    if (this.isQuiet || this.app.tab === "known") return marks;
    const line = this.previewed;
    if (line) marks.line = (line.win?.line || line.pv).slice(0, 30);
    else if (found?.lines && this.checked(this.onBoard) && this.checked(this.on)) {
      marks.labels = found.lines.map((one, rank) => ({
        cell: one.move, best: rank === 0, text: one.mate !== null ? valueText(one.value).replace("+", "") : Math.round(100 * one.chance),
      }));
    }
    if (this.checked(this.policy) && found?.policy && !line) marks.policy = found.policy;
    const threats = this.threats;
    if (threats && !line) {
      const sides = { both: ["black", "white"], black: ["black"], white: ["white"] }[this.overlay.value] || [];
      marks.shapes = sides.flatMap((side) => threats.shapes[side].map((shape) => ({ ...shape, side })));
      marks.bothSides = sides.length > 1;
      if (this.checked(this.winning)) {
        marks.wins = threats.wins;
        marks.rescues = threats.rescues;
      }
    }
    return marks;
  }
}
