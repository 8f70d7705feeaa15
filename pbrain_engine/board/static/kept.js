// What outlives the page, where the browser lets it: for good, or as long as its tab (SESSION).

export const SESSION = "sessionStorage";

export function remembered(name, otherwise, storage = "localStorage") {
  try {
    return JSON.parse(window[storage].getItem("numoku." + name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

// Whether there was room for it.
export function remember(name, value, storage = "localStorage") {
  try {
    window[storage].setItem("numoku." + name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

// Fields that are marked keep what is in them.
export function keepFields() {
  // A number outside the limits of its field becomes the nearest one within, before all else hears of it.
  document.addEventListener("change", ({ target: field }) => {
    const { type, valueAsNumber: given, min, max, step } = field;
    if (type !== "number" || isNaN(given)) return;
    const number = Math.min(Math.max(step ? given : Math.round(given), min), max || Infinity);
    if (number !== given) field.value = number;
  }, true);
  for (const field of document.querySelectorAll("[data-kept]")) {
    const what = field.type === "checkbox" ? "checked" : "value";
    field[what] = remembered(field.id, field[what]);
    field.addEventListener("change", () => { remember(field.id, field[what]); });
  }
}
