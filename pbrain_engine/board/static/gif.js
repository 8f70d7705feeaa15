// A film of a game as GIF, for places that show no SVG: each frame has only what is new in it.

const MOST_CODES = 4096, MOST_COLOURS = 255, SAME = 255; // SAME: the colour of what stays as it was

// film: the animated SVG of the game, each part that appears in a group of its own.
export async function gifOf(film, step = 80, pause = 300) { // hundredths of a second
  const svg = new DOMParser().parseFromString(film, "image/svg+xml").documentElement;
  const wide = Number(svg.getAttribute("width")), tall = Number(svg.getAttribute("height"));
  const parts = [...svg.querySelectorAll("animate")].map((animation) => {
    const part = animation.parentNode;
    animation.remove();
    return part;
  });
  const context = Object.assign(document.createElement("canvas"), { width: wide, height: tall }).getContext("2d", { willReadFrequently: true });
  const frames = [];
  for (let shown = 0; shown <= parts.length; shown++) {
    parts.forEach((part, at) => { part.style.display = at < shown ? "" : "none"; });
    const image = new Image();
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(svg));
    await image.decode();
    context.fillStyle = "#fff"; // behind the round corners
    context.fillRect(0, 0, wide, tall);
    context.drawImage(image, 0, 0);
    frames.push(coarse(context.getImageData(0, 0, wide, tall).data));
  }
  const colourOf = paletteOf(frames.at(-1)), bytes = [...text("GIF89a"), ...word(wide), ...word(tall), 0xf7, 0, 0];
  for (let at = 0; at < 256; at++) bytes.push(...split(colourOf.colours[at] ?? 0));
  bytes.push(0x21, 0xff, 11, ...text("NETSCAPE2.0"), 3, 1, 0, 0, 0); // for ever
  frames.forEach((frame, at) => {
    const before = frames[at - 1], pixels = frame.map((colour, place) => (before && before[place] === colour ? SAME : colourOf(colour)));
    bytes.push(0x21, 0xf9, 4, 5, ...word(at < parts.length ? step : pause), SAME, 0, 0x2c, 0, 0, 0, 0, ...word(wide), ...word(tall), 0, 8);
    const packed = compress(pixels);
    for (let from = 0; from < packed.length; from += 255) {
      const block = packed.slice(from, from + 255);
      bytes.push(block.length, ...block);
    }
    bytes.push(0);
  });
  return Uint8Array.from([...bytes, 0x3b]);
}

const text = (signs) => [...signs].map((sign) => sign.charCodeAt(0));
const word = (number) => [number & 255, number >> 8];
const split = (colour) => [(colour >> 7) & 0xf8, (colour >> 2) & 0xf8, (colour << 3) & 0xf8].map((part) => part | (part >> 5));

// Five bits of each part of a colour.
function coarse(data) {
  const colours = new Uint16Array(data.length / 4);
  for (let at = 0; at < data.length; at += 4) colours[at / 4] = ((data[at] >> 3) << 10) | ((data[at + 1] >> 3) << 5) | (data[at + 2] >> 3);
  return colours;
}

// A function from a colour to the number of the nearest one among the most frequent.
function paletteOf(frame) {
  const counts = new Map();
  for (const colour of frame) counts.set(colour, (counts.get(colour) || 0) + 1);
  const colours = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_COLOURS).map(([colour]) => colour), numbers = new Map(colours.map((colour, at) => [colour, at]));
  const distance = (a, b) => split(a).reduce((sum, part, at) => sum + (part - split(b)[at]) ** 2, 0);
  const nearest = (colour) => colours.reduce((best, other, at) => (distance(other, colour) < distance(colours[best], colour) ? at : best), 0);
  return Object.assign((colour) => {
    if (!numbers.has(colour)) numbers.set(colour, nearest(colour));
    return numbers.get(colour);
  }, { colours });
}

// LZW with codes of nine to twelve bits.
function compress(pixels) {
  const CLEAR = 256, codes = new Map(), bytes = [];
  let next = CLEAR + 2, size = 9, held = 0, count = 0, prefix = pixels[0];
  const put = (code) => {
    held |= code << count;
    for (count += size; count >= 8; count -= 8) {
      bytes.push(held & 255);
      held >>>= 8;
    }
  };
  put(CLEAR);
  for (const pixel of pixels.subarray(1)) {
    const key = (prefix << 8) | pixel, known = codes.get(key);
    if (known !== undefined) {
      prefix = known;
      continue;
    }
    put(prefix);
    prefix = pixel;
    if (next === MOST_CODES) {
      put(CLEAR);
      codes.clear();
      [next, size] = [CLEAR + 2, 9];
    } else {
      if (next === 1 << size) size++;
      codes.set(key, next++);
    }
  }
  put(prefix);
  put(CLEAR + 1);
  return [...bytes, held & 255];
}
