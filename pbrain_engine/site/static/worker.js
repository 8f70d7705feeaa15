// The worker of the site: Pyodide with the board's server, and the letters that the page sends it.

import { loadPyodide } from "./pyodide.mjs";

const STORE = "/numoku", HOME = "/lib/numoku";
const KEEP_AFTER = 200, KEEP_EVERY = 3000; // milliseconds after work, and of a long search, until what is new is kept
const WHOLE = Number("{whole}") || 1e7; // bytes of the files that take long

let mailbox = null; // memory that is shared with the page: three numbers, then bytes
let python = null, board = null, page = null, isBusy = false, keeping = 0, keptAt = 0, isKept = true, isKeeping = false;
const letters = [], parts = [], decoder = new TextDecoder();

// Files that were packed for the way come out as they were.
const plainFetch = self.fetch;
self.fetch = async (what, options) => {
  const address = String(what.url || what);
  if (address.endsWith(".zip")) return counted(await plainFetch(what, options));
  if (!address.endsWith("/pyodide.asm.wasm")) return plainFetch(what, options);
  const answer = counted(await plainFetch(address + ".packed"));
  if (!answer.ok) return answer;
  return new Response(answer.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": "application/wasm" } });
};

// The page shows how much has come.
let loaded = 0, told = 0;
function counted(answer) {
  if (!answer.ok) return answer;
  const count = new TransformStream({
    transform(part, out) {
      loaded += part.length;
      if (performance.now() - told > 100 || loaded >= WHOLE) {
        told = performance.now();
        postMessage({ loaded: Math.min(loaded / WHOLE, 1) });
      }
      out.enqueue(part);
    },
  });
  return new Response(answer.body.pipeThrough(count), { status: answer.status, headers: answer.headers });
}

// Read what lies in the mailbox: a letter, or a part of one.
function empty() {
  if (!mailbox || !Atomics.load(mailbox.numbers, 0)) return;
  const [, length, isLast] = mailbox.numbers;
  parts.push(mailbox.bytes.slice(0, length));
  Atomics.store(mailbox.numbers, 0, 0);
  postMessage({ taken: true });
  if (isLast) letters.push(parts.splice(0).map((part, at, all) => decoder.decode(part, { stream: at < all.length - 1 })).join(""));
}

const host = {
  hears: false,
  pauses: typeof WebAssembly.Suspending === "function",
  post(text) { postMessage({ text }); },
  take() {
    empty();
    return letters.shift();
  },
  async pause() {
    await new Promise((resolve) => setTimeout(resolve));
    if (performance.now() - keptAt > KEEP_EVERY) await keep();
  },
};

self.onmessage = async ({ data }) => {
  if (data.text) letters.push(data.text);
  if (data.start) return start(data.start);
  if (data.pack) return guard(() => postMessage({ packed: board.pack(data.pack).toJs() }));
  if (data.unpack) return guard(() => putBack(data.unpack));
  return serve();
};

async function start(shared) {
  try {
    if (shared.mailbox) mailbox = { numbers: new Int32Array(shared.mailbox, 0, 3), bytes: new Uint8Array(shared.mailbox, 12) };
    host.hears = Boolean(mailbox);
    const engine = self.fetch(new URL("numoku.zip", self.location)).then((answer) => answer.arrayBuffer());
    python = await loadPyodide({ lockFileURL: new URL("pyodide-lock.json", self.location).href });
    python.unpackArchive(await engine, "zip", { extractDir: HOME });
    await mount();
    python.runPython(`import sys; sys.path.insert(0, "${HOME}")`);
    board = python.pyimport("pbrain_engine.site");
    page = board.start(host);
    await serve();
  } catch (error) {
    die(error);
  }
}

// The folder that outlives the page, where the browser lets one do so.
async function mount() {
  python.FS.mkdirTree(STORE);
  try {
    python.FS.mount(python.FS.filesystems.IDBFS, {}, STORE);
    await synchronise(true);
    if (!(await isAlone())) refused("the store is in use", "other-tab");
  } catch (error) {
    refused(error);
  }
}

// Whether no other tab writes what outlives the page; this one does, until it is closed.
function isAlone() {
  if (!navigator.locks) return true;
  return new Promise((resolve) => {
    navigator.locks.request("numoku", { ifAvailable: true }, (lock) => {
      resolve(Boolean(lock));
      return lock && new Promise(() => {});
    });
  });
}

function synchronise(isBegin) {
  return new Promise((resolve, reject) => python.FS.syncfs(isBegin, (error) => (error ? reject(error) : resolve())));
}

function refused(error, note = "nothing-kept") {
  if (isKept) postMessage({ note });
  isKept = false;
  console.warn(error);
}

async function keep() {
  clearTimeout(keeping);
  keeping = 0;
  keptAt = performance.now();
  if (!isKept) return;
  if (isKeeping) { // one at a time: the rest soon
    keeping = setTimeout(keep, KEEP_AFTER);
    return;
  }
  isKeeping = true;
  try {
    await synchronise(false);
  } catch (error) {
    refused(error);
  }
  isKeeping = false;
}

async function serve() {
  if (!page || isBusy) return;
  isBusy = true;
  try {
    if (host.pauses && !host.hears) await page.serve.callPromising();
    else page.serve();
  } catch (error) {
    die(error);
    return;
  }
  isBusy = false;
  keeping ||= setTimeout(keep, KEEP_AFTER); // however much is asked until then
  if (letters.length) serve();
}

function guard(action) {
  try {
    return action();
  } catch (error) {
    return postMessage({ note: String(error.message).trim().split("\n").pop().replace(/^\w+Error: /, "") });
  }
}

async function putBack(data) {
  const settings = board.unpack(python.toPy(data));
  await keep();
  postMessage({ settings });
}

function die(error) {
  console.warn(error);
  postMessage({ dead: "engine-ended" });
}
