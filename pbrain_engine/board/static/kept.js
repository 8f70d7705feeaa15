// What outlives the page, where the browser lets it.

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
