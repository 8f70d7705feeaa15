// Small helpers for pieces of the page.

import { t } from "./words.js";

export const find = (id) => document.getElementById(id);

// make("button", {class: "plain", onclick: f}, "text", child, ...)
export function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export function button(text, onclick, more = {}, ...inner) { return make("button", { type: "button", onclick, ...more }, text, ...inner); }

// Ask a question with one button that says yes; true where that was pressed.
export function asked(text, yes) {
  find("yes").textContent = yes;
  find("asking").querySelector("p").textContent = text;
  return opened("asking").then((answer) => answer === "yes");
}

// Show a dialog of the page until it is closed; resolves with the value of its button.
export function opened(id) {
  const dialog = find(id), { promise, resolve } = Promise.withResolvers();
  dialog.returnValue = "";
  dialog.onclose = () => resolve(dialog.returnValue);
  dialog.showModal();
  return promise;
}

// Change a list, but not while one of its pieces is pressed, whose click would be lost.
export function unpressed(list, change) {
  clearTimeout(list.waiting);
  if (list.matches(":active")) list.waiting = setTimeout(unpressed, 20, list, change);
  else change();
}

// Fill a list with rows, each what it tells and a function that makes its piece. A piece that tells
// the same as before stays, with what it does; the focus stays where it was among the buttons.
export function refill(list, rows) {
  unpressed(list, () => {
    const old = new Map([...list.children].map((piece) => [piece.told, piece])), focus = [...list.querySelectorAll("button, input")].indexOf(document.activeElement);
    const pieces = rows.map(([what, create]) => {
      const told = JSON.stringify(what), piece = old.get(told) || Object.assign(create(), { told });
      old.delete(told);
      return piece;
    });
    old.forEach((piece) => piece.remove());
    pieces.forEach((piece, at) => { if (list.children[at] !== piece) list.insertBefore(piece, list.children[at] ?? null); });
    if (!list.contains(document.activeElement)) [...list.querySelectorAll("button")].slice(0, focus + 1).at(-1)?.focus({ preventScroll: true });
  });
}

// The options of a list, each by its value and text; groups have a title.
export function fillList(list, options) {
  list.replaceChildren(...options.map(([value, text, inner]) => (inner
    ? make("optgroup", { label: text }, ...inner.map(([one, words]) => make("option", { value: one }, words)))
    : make("option", { value }, text))));
}

let audio = null; // made at the first stone, as browsers want a click before

// A stone is put on wood: a short burst of noise that dies away.
export function stoneSound() {
  audio ??= new AudioContext();
  const length = Math.round(0.05 * audio.sampleRate), buffer = audio.createBuffer(1, length, audio.sampleRate), samples = buffer.getChannelData(0);
  for (let at = 0; at < length; at++) samples[at] = (Math.random() - 0.5) * Math.exp((-9 * at) / length);
  const source = new AudioBufferSourceNode(audio, { buffer }), filter = new BiquadFilterNode(audio, { type: "bandpass", frequency: 1400, Q: 1.5 });
  source.connect(filter).connect(audio.destination);
  source.start();
}

// One of the panels next to the board. What is in it calls its methods: data-does names one for a
// click, data-change and data-input one for those events.
export class Panel {
  constructor(app) { this.app = app; }

  get element() { return find(`panel-${this.name}`); }

  get status() { return find(`${this.name}-status`); }

  say(text) { this.status.textContent = text; }

  // What a question comes to; null where it fails, and the reason is shown.
  async tried(question) {
    this.running = question.id;
    const found = await question;
    if (this.running === question.id) this.running = null;
    if (!found.error) return found;
    if (!found.stopped) this.say(found.error);
    return null;
  }

  // As tried, about the position on the board; null, too, where another one is there by then.
  async here(what, fields) {
    const { app } = this, { node, guide } = app, found = await this.tried(app.ask(what, fields));
    return app.node === node && app.guide === guide ? found : null;
  }

  stop() { this.app.server.stop(this.running); }
}

export function download(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 5000);
}

export const isChecked = (id) => find(id).checked;
