// Live analysis of the position that is looked at, and the threats on the board.

import { SHAPE_SIGNS } from "./board.js";
import { WIN_BAND, valueText } from "./draw.js";
import { SIDES, isSame } from "./tree.js";
import { Panel, button, find, isChecked, make, unpressed } from "./dom.js";
import { decimal, percent, short, t, worth, worthSign } from "./words.js";

export class AnalysisPanel extends Panel {
  name = "analyse";
  summary = find("summary");
  list = find("lines-found");
  status = find("balance-found");

  constructor(app) {
    super(app);
    find("shape-legend").append(`${t("legend")} `,
      ...Object.entries(SHAPE_SIGNS).flatMap(([name, sign], at) => [at ? " · " : "", make("span", {}, `${sign} ${t(`shape ${name}`)}`)]));
    this.element.addEventListener("change", ({ target }) => {
      if (target.id === "analysis-on") this.showLines();
      this.onnode(app.node);
      app.draw();
    });
  }

  onopen(isLater) {
    if (isLater) this.showLines();
    this.onnode(this.app.node);
  }

  // On a telephone the lines may be below what is seen; nothing glides there.
  showLines() { if (isChecked("analysis-on")) this.list.scrollIntoView({ block: "nearest" }); }

  onclose() {
    const { app } = this;
    if (app.guide === app.proof && app.tree.goesOn) app.proof.halt();
    if (app.isQuiet) this.onnode(app.node);
  }

  // Position changes ---

  onnode(node) {
    this.previewed = this.threats = null;
    this.say("");
    this.analyse(node);
    this.ask(node);
  }

  get found() { return this.app.isQuiet ? null : this.app.node.found; }

  async analyse(node) {
    const { app } = this, { server } = app;
    this.isEnded = false;
    this.trouble = "";
    server.stop(this.search);
    this.search = null;
    if (!isChecked("analysis-on") || app.isQuiet || node.isOver) return;
    const [multipv, threads, memory, nodes] = ["lines", "threads", "memory", "nodes"].map((name) => Number(find(name).value) || null);
    const question = app.ask("analyse", { multipv, threads, memory, nodes, policy: isChecked("policy") }, (event) => { if (this.search === question.id) this.take(node, event); });
    this.search = question.id;
    const found = await question;
    if (this.search !== question.id) return;
    this.search = null; // so that it is not stopped when something else goes on
    this.isEnded = found.stopped;
    if (!found.stopped) this.trouble = found.error || "";
    this.take(node, found);
  }

  // Another question has ended the search: it goes on when that is answered.
  onidle() { if (this.isEnded) this.analyse(this.app.node); }

  take(node, found) {
    if (!found.error) node.found = found;
    this.app.draw();
  }

  async ask(node) {
    if (this.app.isQuiet || (find("overlay").value === "off" && !isChecked("winning"))) return;
    const found = await this.app.ask("threats");
    if (this.app.node !== node || found.stopped) return;
    this.threats = found;
    this.app.draw();
  }

  // One or two moves after which the chances are as even as can be.
  async balance(stones) {
    const { app } = this;
    if (app.isQuiet) return;
    this.say(t("looking"));
    const found = await this.here("balance", { stones: Number(stones) });
    if (!found) return;
    this.say(t("balanced", { cells: app.names(found.stones), side: app.mover, chance: percent(found.chance ?? 0.5) }));
    this.preview({ pv: found.stones });
  }

  // View ---

  refresh() {
    const { app, found, search } = this, { node } = app, lines = (!node.isOver && found?.lines) || [];
    find("threat-note").textContent = this.threatText();
    find("shape-legend").hidden = find("overlay").value === "off";
    this.list.style.setProperty("--lines", find("lines").value || 1);
    unpressed(this.list, () => this.fill(lines));
    this.showBar(lines.length ? found : null);
    this.summary.dataset.state = search ? "running" : "done";
    if (node.isOver) this.summary.textContent = "–";
    else if (this.trouble || !lines.length) this.summary.textContent = app.isQuiet ? t("quiet") : this.trouble || (search ? t("looking") : "–");
    else this.summary.replaceChildren(...this.figures(found));
  }

  // Black's share of the bar; found: what is known of a game that goes on.
  showBar(found) {
    const { app } = this, { node } = app, { winner, full } = node.facts || {}, { chance = 0.5, value = 0 } = found || {};
    const black = winner ? Number(winner === "black") : app.tree.toMove(node) ? 1 - chance : chance;
    const is = winner ? t("wins", { side: winner }) : full ? t("draw") : found ? "" : t("not-known");
    find("bar-black").style.transform = `scaleY(${black.toFixed(3)})`; // unlike a height it moves without a new layout
    find("bar-text").textContent = is ? "" : Math.abs(value) >= WIN_BAND ? valueText(Math.abs(value)).slice(1) : Math.round(100 * black);
    find("bar").setAttribute("aria-label", `${t("evaluation")}: ${is || `${t("black")} ${percent(black)}`}`);
  }

  figures({ depth, seldepth, nodes, time, chance, network }) {
    const words = [t("depth-is", { depth: depth < seldepth ? `${depth}–${seldepth}` : depth }), t("nodes-are", { n: short(nodes) })];
    if (time > 0) words.push(t("speed", { n: short(nodes / time) }));
    words.push(t("time-is", { n: decimal(time, 1) }));
    return [make("strong", {}, `${t(this.app.mover)} ${percent(chance)}`), ...words.map((word) => make("span", {}, word)),
      network ? make("span", { title: network }, t("network")) : ""];
  }

  // A row stays while its line changes, and with it what points at it.
  fill(lines) {
    const { app } = this;
    this.shown = lines;
    for (const row of [...this.list.children].slice(lines.length)) {
      row.firstChild.blur(); // which draws
      row.remove();
    }
    lines.forEach((line, at) => {
      const texts = [app.nameOf(line.move), worth(line), app.names((line.win?.line || line.pv).slice(1))];
      const row = this.list.children[at] || this.list.appendChild(this.row(at));
      texts.forEach((text, part) => { row.firstChild.children[part].textContent = text; });
    });
  }

  row(at) {
    const preview = () => this.preview(this.shown[at]), end = () => this.preview(null);
    return make("li", {}, button("", () => this.app.click(this.shown[at].move), { class: "line", onpointerenter: preview, onpointerleave: end, onfocus: preview, onblur: end },
      make("b"), make("span", { class: "value" }), make("span", { class: "pv" })));
  }

  threatText() {
    const { threats, app } = this, words = [];
    if (threats?.error) return threats.error;
    if (!threats || !isChecked("winning")) return "";
    if (threats.wins.length) words.push(t("wins-by-fours", { cells: app.names(threats.wins, ", ") }));
    if (threats.threatened) words.push(this.enemyThreat(threats));
    return words.join("; ") || t("no-fours");
  }

  enemyThreat({ rescues, unknown }) {
    const stops = rescues.length ? t("stopped-by", { cells: this.app.names(rescues, ", ") }) : t(unknown.length ? "stop-unknown" : "no-stop");
    return `${t("enemy-threatens")}; ${stops}`;
  }

  onpoint(cell) {
    const line = cell && this.found?.lines?.find((one) => isSame(one.move, cell));
    if (line || this.previewed) this.preview(line || null);
  }

  preview(line) {
    this.previewed = line;
    this.app.draw();
  }

  marks() {
    const { found, threats, previewed: line } = this, marks = {};
    if (this.app.isQuiet || this.app.tab === "known") return null;
    if (line) return { line: (line.win?.line || line.pv).slice(0, 30) };
    if (found?.lines && isChecked("on-board") && isChecked("analysis-on")) {
      marks.labels = found.lines.map((one, rank) => ({ cell: one.move, best: rank === 0, text: worthSign(one) }));
    }
    if (isChecked("policy")) marks.policy = found?.policy;
    if (threats?.shapes) {
      const sides = SIDES.filter((side) => [side, "both"].includes(find("overlay").value));
      marks.shapes = sides.flatMap((side) => threats.shapes[side].map((shape) => ({ ...shape, side })));
      marks.bothSides = sides.length > 1;
      if (isChecked("winning")) Object.assign(marks, { wins: threats.wins, rescues: threats.rescues });
    }
    return marks;
  }
}
