// A film of a game as GIF, for places that show no SVG: each frame has only what is new in it.

const MOST_CODES = 4096, MOST_COLOURS = 255, SAME = 255; // SAME: the colour of what stays as it was

// film: the animated SVG of the game, each part that appears in a group of its own, over those before.
export async function gifOf(film, step = 80, pause = 300) { // hundredths of a second
  const svg = new DOMParser().parseFromString(film, "image/svg+xml").documentElement, pieces = [...svg.children];
  const wide = Number(svg.getAttribute("width")), tall = Number(svg.getAttribute("height"));
  const parts = pieces.filter((piece) => piece.querySelector("animate"));
  svg.querySelectorAll("animate").forEach((animation) => animation.remove());
  const context = Object.assign(document.createElement("canvas"), { width: wide, height: tall }).getContext("2d", { willReadFrequently: true });
  context.fillStyle = "#fff"; // behind the round corners
  context.fillRect(0, 0, wide, tall);
  const paint = async (shown) => {
    const image = new Image();
    svg.replaceChildren(...shown);
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(svg));
    await image.decode();
    context.drawImage(image, 0, 0);
    return new Uint32Array(context.getImageData(0, 0, wide, tall).data.buffer).map(colourOf);
  };
  const { palette, numbered } = paletteOf(await paint(pieces));
  const bytes = [...text("GIF89a"), ...word(wide), ...word(tall), 0xf7, 0, 0];
  for (let at = 0; at < 256; at++) bytes.push(...(palette[at] ?? [0, 0, 0]).map((part) => (part << 3) | (part >> 2)));
  bytes.push(0x21, 0xff, 11, ...text("NETSCAPE2.0"), 3, 1, 0, 0, 0); // for ever
  let before = new Uint8Array(wide * tall).fill(SAME);
  for (const shown of [pieces.filter((piece) => !parts.includes(piece)), ...parts.map((part) => [part])]) {
    const frame = numbered(await paint(shown)), isNew = (number, at) => number !== before[at];
    const top = Math.floor(frame.findIndex(isNew) / wide), end = Math.floor(frame.findLastIndex(isNew) / wide) + 1; // rows
    const pixels = frame.slice(top * wide, end * wide).map((number, at) => (number === before[top * wide + at] ? SAME : number));
    bytes.push(0x21, 0xf9, 4, 5, ...word(shown[0] === parts.at(-1) ? pause : step), SAME, 0, 0x2c, 0, 0, ...word(top), ...word(wide), ...word(end - top), 0, 8);
    const packed = compress(pixels);
    for (let from = 0; from < packed.length; from += 255) {
      const block = packed.slice(from, from + 255);
      bytes.push(block.length, ...block);
    }
    bytes.push(0);
    before = frame;
  }
  return Uint8Array.from([...bytes, 0x3b]);
}

const text = (signs) => [...signs].map((sign) => sign.charCodeAt(0));
const word = (number) => [number & 255, number >> 8];

// A pixel as five bits of each part.
const colourOf = (pixel) => ((pixel & 0xf8) << 7) | ((pixel >> 6) & 0x3e0) | ((pixel >> 19) & 31);
const split = (colour) => [colour >> 10, (colour >> 5) & 31, colour & 31];

// The most frequent colours of a picture, and a function from the colours of any picture to the
// numbers of those that are nearest.
function paletteOf(picture) {
  const counts = new Map(), numbers = []; // what is known of each colour
  for (const colour of picture) counts.set(colour, (counts.get(colour) || 0) + 1);
  const palette = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_COLOURS).map(([colour]) => split(colour));
  const nearest = ([red, green, blue]) => {
    const far = palette.map(([r, g, b]) => (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2);
    return far.indexOf(Math.min(...far));
  };
  return { palette, numbered: (colours) => colours.map((colour) => (numbers[colour] ??= nearest(split(colour)))) };
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
