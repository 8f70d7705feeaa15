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
  for (const field of document.querySelectorAll("[data-kept]")) {
    const what = field.type === "checkbox" ? "checked" : "value";
    field[what] = remembered(field.id, field[what]);
    field.addEventListener("change", () => { if (field.validity.valid) remember(field.id, field[what]); });
  }
}
