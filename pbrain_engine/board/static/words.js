// The words of the page in the language of its reader: one table a language, of which only that
// one is loaded. A message has {holes}, {n, plural, one {# move} other {# moves}} and
// {side, select, black {Black plays} white {White plays}}, as ICU has them; {side} alone is its name.

import { WIN_BAND, valueText } from "./draw.js";
import { remembered } from "./kept.js";

export const LANGUAGES = {
  en: "English", zh: "简体中文", "zh-TW": "繁體中文", ja: "日本語", ko: "한국어", ru: "Русский", vi: "Tiếng Việt", cs: "Čeština",
};

// What was chosen, else the first language of the browser that there is.
const wanted = [remembered("language", ""), ...navigator.languages].map((name) => (/^zh-(TW|HK|MO|Hant)/.test(name) ? "zh-TW" : name.split("-")[0]));
export const language = wanted.find((name) => name in LANGUAGES) || "en";

const { words, openings } = await import(`./words-${language}.js`);
const plurals = new Intl.PluralRules(language);
const formats = {};
const HOLE = /\{(\w+)(?:, (plural|select), ((?:[\w=]+ \{[^{}]*\} ?)+))?\}/g;

function format(number, options) {
  const name = JSON.stringify(options);
  return (formats[name] ??= new Intl.NumberFormat(language, options)).format(number);
}

export const percent = (share) => format(share, { style: "percent" });
export const short = (number) => format(number, { notation: "compact", maximumFractionDigits: 1 });
export const decimal = (number, digits) => format(number, { minimumFractionDigits: digits, maximumFractionDigits: digits });

// What a position is worth: a forced end in plies, else the chance to win; and as a sign on a cell.
export const worth = ({ value, chance }) => (chance === undefined || Math.abs(value) >= WIN_BAND ? valueText(value) : percent(chance));
export const worthSign = (found) => worth(found).replace(/[+%\s]/g, "");

// The message of a name, with the values in its holes; numbers as the language writes them.
export function t(name, values = {}) {
  return (words[name] ?? name).replace(HOLE, (_, hole, kind, cases) => {
    const value = values[hole] ?? "", shown = typeof value === "number" ? format(value, {}) : value;
    if (!kind) return hole === "side" ? words[value] ?? "" : shown;
    const forms = Object.fromEntries([...cases.matchAll(/([\w=]+) \{([^{}]*)\}/g)].map((found) => found.slice(1)));
    const form = kind === "plural" ? plurals.select(value) : value;
    return (forms[`=${value}`] ?? forms[form] ?? forms.other ?? "").replace("#", shown);
  });
}

// What the server says, in the words of the page if it has a code that the page knows.
export function said({ code, values, error, text = error }) {
  const name = `error-${code}`;
  return name in words ? t(name, { why: text, ...values }) : text;
}

export const boardName = ({ rule, width, height }) => `${t(`rule-${rule}`)} ${width}×${height}`;

// The opening of renju that the server calls so, D1 to D13 or I1 to I13.
export function openingName(text) {
  const [code] = text.split(" ");
  return openings ? `${code} ${openings[code.slice(1) - (code < "I" ? 1 : -12)]}` : text;
}

const PLACES = { t: ["textContent"], tLabel: ["ariaLabel"], tTitle: ["title", "ariaLabel"], tPlace: ["placeholder"] };

// Put the words into the page: the message of data-t is the text, or of the id where that is empty.
export function translate() {
  document.documentElement.lang = language;
  for (const label of document.querySelectorAll(".fields label, label.wide, label.check")) { // named as their fields
    const span = document.createElement("span");
    span.textContent = t(label.firstElementChild.id);
    label[label.className === "check" ? "append" : "prepend"](span);
  }
  for (const piece of document.querySelectorAll("[data-t], [data-t-label], [data-t-title], [data-t-place]")) {
    for (const kind in PLACES) if (kind in piece.dataset) for (const place of PLACES[kind]) piece[place] = t(piece.dataset[kind] || piece.id);
  }
}
