// Black's chance to win over the game, dark from below, next to the list of moves.

import { element } from "./draw.js";

const WIDE = 1000, TALL = 100;

// points: [ply, share] in order; ticks: [ply, kind] of moves that stand out.
export function drawChances(chart, length, points, now, ticks = []) {
  chart.replaceChildren();
  chart.setAttribute("viewBox", `0 0 ${WIDE} ${TALL}`);
  chart.setAttribute("preserveAspectRatio", "none");
  const x = (ply) => ((ply / Math.max(1, length)) * WIDE).toFixed(1), y = (share) => ((1 - share) * TALL).toFixed(1);
  if (points.length > 1) {
    const first = x(points[0][0]), last = x(points[points.length - 1][0]);
    const line = points.map(([ply, share]) => `L${x(ply)} ${y(share)}`).join("");
    element("path", { class: "area", d: `M${first} ${TALL}${line}L${last} ${TALL}Z` }, chart);
  }
  element("line", { class: "half", x1: 0, x2: WIDE, y1: TALL / 2, y2: TALL / 2 }, chart);
  for (const [ply, kind] of ticks) element("line", { class: `tick ${kind}`, x1: x(ply), x2: x(ply), y1: 0, y2: 14 }, chart);
  element("line", { class: "now", x1: x(now), x2: x(now), y1: 0, y2: TALL }, chart);
}

export function plyAt(chart, event, length) {
  const box = chart.getBoundingClientRect(), at = Math.round(((event.clientX - box.left) / box.width) * length);
  return Math.min(Math.max(at, 0), length);
}
