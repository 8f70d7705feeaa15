// Proofs to walk through: the attacker's move is the program's, the defence is yours.

import { Panel, button, find, make } from "./dom.js";
import { SIDES, isSame } from "./tree.js";
import { t } from "./words.js";

export class ProofPanel extends Panel {
  name = "proof";
  tree = find("proof-tree");

  refresh() {
    const { app } = this;
    find("proof-tools").hidden = app.guide !== this;
    if (this.game === app.tree) return;
    this.game = app.tree; // a proof of another game is gone
    this.tree.replaceChildren();
    this.say("");
  }

  ask(what) { return this.here(what, { seconds: Number(find("proof-seconds").value) || 10 }); }

  // The game that it has interrupted goes on.
  halt(node = this.root) {
    const { app } = this;
    if (app.tree.goesOn) return app.show(node);
    app.setGuide(null);
    return app.draw();
  }

  // Nobody wants to know any more.
  end() {
    if (!this.running) return;
    this.stop();
    this.say("");
  }

  // Going elsewhere while the first move is looked for.
  moved(node) { if (this.running && !this.tree.firstChild) this.halt(node); }

  // Find a win for the side to move, and play its first move.
  begin() {
    const { app } = this;
    if (app.isQuiet) return;
    app.openTab("analyse");
    this.walk(app.node);
  }

  // What a reload in the middle of a proof needs: where it has begun, and what its steps have shown.
  get kept() {
    const nodes = this.app.tree.nodes();
    return { root: nodes.indexOf(this.root), steps: nodes.flatMap(({ step }, at) => (step ? [[at, step]] : [])) };
  }

  restore({ root, steps }, node) {
    const nodes = node.tree.nodes(), walk = () => this.walk(nodes[root]);
    for (const [at, step] of steps) nodes[at].step = step;
    if (node.tree === this.app.tree) walk();
    else this.app.lend(node, walk);
  }

  // The attack that has begun at a position goes on from that on the board.
  async walk(root) {
    const { app } = this;
    Object.assign(this, { root, game: app.tree, attacker: app.tree.toMove(root) });
    app.setGuide(this);
    this.tree.replaceChildren();
    this.say("");
    app.draw();
    if (app.tree.toMove(app.node) !== this.attacker) return this.resume(app.node);
    this.say(t("looking"));
    if (await this.attack() || app.guide !== this) return;
    this.halt(app.node);
    await this.enemy(app.node);
  }

  // Where the side to move does not win: does the enemy threaten to, and what stops that?
  async enemy(node) {
    const { app } = this;
    const found = await this.ask("threats");
    if (!found?.threatened) return;
    this.rescue = { node, cells: found.rescues };
    this.say(`${this.status.textContent}; ${app.analyse.enemyThreat(found)}`);
    app.draw();
  }

  async attack() {
    const { app } = this, node = app.node, found = await this.ask("prove");
    if (!found) return false;
    if (!found.move) {
      this.say(t("no-win"));
      return node !== this.root;
    }
    app.playCell(found.move).step = { win: found };
    this.sayWin(found);
    await this.defences();
    return true;
  }

  sayWin({ line: cells, length: n, claim }) {
    const side = SIDES[this.attacker], line = this.app.names(cells);
    this.say(n === 1 ? `${t("task-five", { side })}: ${line}` : t("wins-in", { side, n, how: t(claim), line }));
  }

  // Show what can be done against the attacker's last move.
  async defences() {
    const { app } = this, node = app.node, facts = await app.look(node);
    if (!facts || app.node !== node) return;
    if (facts.winner) {
      this.say(t("proof-ends", { n: node.ply - this.root.ply }));
      this.list(node);
      return;
    }
    app.draw();
    const found = await this.ask("branches");
    if (!found) return;
    node.step = { ...node.step, answers: found };
    this.list(node);
    app.draw();
  }

  // The tree: the moves so far, and what every defence here leads to.
  list(node) {
    const { app } = this, attacks = node.path.slice(this.root.ply).filter((at) => at.step?.answers || at === node);
    let list = this.tree;
    list.replaceChildren();
    attacks.forEach((at, depth) => {
      const inner = make("ul"), next = make("ul"), chosen = attacks[depth + 1]?.parent, answers = at.step?.answers, branches = answers?.branches || [];
      const isChosen = ({ reply }) => isSame(reply, chosen?.cell);
      list.append(make("li", {}, button(app.nameOf(at.cell), () => { app.go(at); this.resume(at); }, { class: "node" }),
        at.facts?.winner ? ` ${t("shape five")}` : "", inner));
      inner.append(...branches.map((branch) => make("li", { class: isChosen(branch) ? "chosen" : "" },
        button(app.nameOf(branch.reply), () => { app.go(at); app.click(branch.reply); }, { class: "node" }),
        ` ${t(`reply-${branch.kind}`)}, ` + this.ending(branch),
        isChosen(branch) ? next : "")));
      if (chosen && !branches.some(isChosen)) inner.append(make("li", { class: "chosen" }, t("another-answer", { cell: app.nameOf(chosen.cell) }), next));
      if (!chosen && answers) inner.append(make("li", { class: "about others" }, this.others(answers)));
      list = next;
    });
  }

  // How the attacker wins after a defence.
  ending({ move, length: n, claim }) {
    if (!move) return t("undecided");
    const cell = this.app.nameOf(move);
    return n === 1 ? t("then-five", { cells: cell }) : t("then-wins", { cell, n, how: t(claim) });
  }

  // What an answer runs into that stops nothing, in the words of `numoku solve --tree`.
  others({ branches, fives, fours }) {
    const { app } = this, any = t(branches.length ? "any-other" : "any-answer");
    const how = fives.length ? "then-five" : fours.length ? "then-fours-as" : "then-fours";
    return `${any}: ${t(how, { cells: app.names(fives, t("or")), side: SIDES[this.attacker], line: app.names(fours) })}`;
  }

  resume(node) {
    const { win, answers } = node.step || {};
    this.app.setGuide(this);
    if (win) this.sayWin(win);
    if (answers) this.list(node);
    else this.defences();
    this.app.draw();
  }

  // The person has chosen a defence.
  played() {
    if (this.app.tree.toMove(this.app.node) !== this.attacker) return;
    this.app.look(this.app.node).then((facts) => {
      if (facts?.winner) this.say(t("was-no-proof", { side: facts.winner }));
      else this.attack();
    });
  }

  async defend() {
    const { app } = this;
    if (app.guide !== this || app.tree.toMove(app.node) === this.attacker) return this.say(t("attacker-looks"));
    const found = await this.ask("reply");
    return found && app.playCell(found.move, true);
  }

  // Back to the attacker's move before, to try another defence.
  back() {
    const { app } = this, node = app.node.path.slice(this.root.ply, -1).findLast(({ side }) => side === this.attacker);
    if (!node) return;
    app.go(node);
    this.resume(node);
  }

  state(facts) {
    if (facts?.winner) return t("wins", { side: facts.winner });
    return this.app.tree.toMove(this.app.node) === this.attacker ? t("attacker-looks") : t("any-defence");
  }

  marks() {
    const { rescue } = this;
    if (this.app.guide !== this) return rescue && rescue.node === this.app.node && this.app.tab === "analyse" ? { rescues: rescue.cells, labels: [] } : null;
    return { defences: this.app.node.step?.answers?.branches.map((branch) => branch.reply), labels: [] };
  }
}
