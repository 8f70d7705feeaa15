// Small helpers for pieces of the page.

export const find = (id) => document.getElementById(id);

// make("button", {class: "plain", onclick: f}, "text", child, ...)
export function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function button(text, onclick, more = {}) { return make("button", { type: "button", onclick, ...more }, text); }

// Show a dialog of the page until it is closed: true where its button says yes.
export function asked(id) {
  return new Promise((resolve) => {
    const dialog = find(id);
    dialog.returnValue = "";
    dialog.onclose = () => resolve(dialog.returnValue === "yes");
    dialog.showModal();
  });
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

// One of the panels beside the board, whose buttons name what they do and with what.
export class Panel {
  constructor(app, name) {
    Object.assign(this, { app, name, element: find(`panel-${name}`), status: find(`${name}-status`) });
    this.element.addEventListener("click", ({ target }) => {
      const { does, what } = target.closest("button")?.dataset || {};
      if (does) this[does](what);
    });
  }

  say(text) { this.status.textContent = text; }

  // What a question comes to; null where it fails, and the reason is shown: of a lost connection
  // only where the question is not asked again with the next one.
  async tried(question, isAskedAgain = false) {
    this.running = question.id;
    const found = await question;
    if (this.running === question.id) this.running = null;
    if (!found.error) return found;
    if (!(isAskedAgain && found.lost)) this.say(found.error);
    return null;
  }

  stop() { if (this.running) this.app.server.stop(this.running); }
}

export function percent(share) { return `${Math.round(100 * share)} %`; }

const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const short = (number) => COMPACT.format(number);

export function download(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 5000);
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", {}, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// Settings outlive the page, where the browser lets them.
export function remembered(name, otherwise) {
  try {
    const kept = localStorage.getItem("numoku." + name);
    return kept === null ? otherwise : JSON.parse(kept);
  } catch {
    return otherwise;
  }
}

export function remember(name, value) {
  try { localStorage.setItem("numoku." + name, JSON.stringify(value)); } catch { /* then not */ }
}

// So do the fields that are marked.
export function keepFields() {
  for (const field of document.querySelectorAll("[data-kept]")) {
    const what = field.type === "checkbox" ? "checked" : "value";
    field[what] = remembered(field.id, field[what]);
    field.addEventListener("change", () => { if (field.validity.valid) remember(field.id, field[what]); });
  }
}

export const isChecked = (id) => find(id).checked;
