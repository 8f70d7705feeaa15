// Small helpers to build pieces of the page.

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

export const row = (...pieces) => make("div", { class: "row" }, ...pieces);

// Controls by the names that stand above them.
export function fields(controls) {
  return make("div", { class: "fields" }, ...Object.entries(controls).map(([text, control]) => make("label", {}, make("span", {}, text), control)));
}

export function select(id, options, value, onchange) {
  const made = make("select", { id, onchange }, ...options.map(([key, text]) => make("option", { value: key }, text)));
  return Object.assign(made, { value });
}

export function checkbox(id, text, checked, onchange) {
  const box = make("input", { type: "checkbox", id, onchange });
  box.checked = checked;
  return make("label", { class: "check" }, box, text);
}

export function numberField(id, value, min, max, step = 1) {
  return make("input", { type: "number", id, value, min, max, step });
}

// Show a dialog until one of its buttons is chosen: true for the main one, as `Escape` is not.
export function asked(title, pieces, yes, ...others) {
  return new Promise((resolve) => {
    const buttons = [make("button", { value: "yes", class: "main" }, yes), ...others.map((text) => make("button", { value: "" }, text))];
    const dialog = make("dialog", { "aria-label": title }, ...pieces, make("form", { method: "dialog", class: "row" }, ...buttons));
    dialog.addEventListener("close", () => { dialog.remove(); resolve(dialog.returnValue === "yes"); });
    document.body.append(dialog);
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

// One of the panels beside the board: `element` is shown below the tab `title`.
export class Panel {
  constructor(app, name, title) { Object.assign(this, { app, name, title }); }

  say(text) { this.status.textContent = text; }

  // What a question comes to; null where it fails, and the reason is shown: of a lost connection
  // only where the question is not asked again with the next one.
  async tried(question, isAskedAgain = false) {
    try {
      return await question;
    } catch (error) {
      if (!(isAskedAgain && error.lost)) this.say(error.stopped ? "stopped" : error.message);
      return null;
    }
  }
}

export function percent(share) { return `${Math.round(100 * share)} %`; }

export function short(number) {
  for (const [limit, divisor, unit] of [[1e3, 1, ""], [1e6, 1e3, " k"], [1e9, 1e6, " M"]]) {
    if (number < limit) return unit ? (number / divisor).toFixed(1) + unit : String(Math.round(number));
  }
  return (number / 1e9).toFixed(1) + " G";
}

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
