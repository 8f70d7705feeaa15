// What the page of the site has beyond the board: a socket to an engine in a worker, what is kept
// in the browser, and files that stay for the next visit.

(() => {
  const ROOM = 1 << 20; // bytes of a letter that go at once
  // A function that makes a vector of zeros and takes its absolute value, byte by byte.
  const PROBE = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];
  const isAble = () => typeof Worker === "function" && typeof WebAssembly === "object" && WebAssembly.validate(new Uint8Array(PROBE));
  const isDeaf = () => !globalThis.crossOriginIsolated && typeof WebAssembly.Suspending !== "function";
  const encoder = new TextEncoder();
  const words = import("./words.js"), dom = import("./dom.js"); // the page has them, too
  let socket = null;

  // Stands in the place of a WebSocket to a server.
  class EngineSocket extends EventTarget {
    constructor() {
      super();
      this.parts = [];
      if (!isAble()) setTimeout(() => this.close("no-simd"));
      else this.begin();
    }

    begin() {
      const worker = new Worker("worker.js", { type: "module" });
      this.worker = worker;
      worker.onerror = (event) => this.close("no-start", { why: event.message || "–" });
      worker.onmessage = ({ data }) => this.receive(data);
      const mailbox = globalThis.crossOriginIsolated ? new SharedArrayBuffer(12 + ROOM) : null;
      if (mailbox) {
        this.numbers = new Int32Array(mailbox, 0, 3);
        this.bytes = new Uint8Array(mailbox, 12);
      }
      worker.postMessage({ start: { mailbox } });
      setTimeout(() => this.dispatchEvent(new Event("open")));
    }

    receive(data) {
      if (data.text) this.dispatchEvent(new MessageEvent("message", { data: data.text }));
      if (data.taken) this.deliver();
      if (data.note) note(data.note);
      if (data.loaded) progress(data.loaded);
      if (data.dead) this.close(data.dead);
      if (data.packed) dom.then(({ download }) => download("numoku-storage.zip", "application/zip", data.packed));
      if (data.settings) takeSettings(data.settings);
    }

    send(text) {
      if (!this.numbers) return this.worker.postMessage({ text });
      const bytes = encoder.encode(text);
      for (let at = 0; at < bytes.length; at += ROOM) this.parts.push({ bytes: bytes.subarray(at, at + ROOM), isLast: at + ROOM >= bytes.length });
      return this.deliver();
    }

    // Put the next part into the mailbox, and ring in case that the worker sleeps.
    deliver() {
      if (!this.parts.length || Atomics.load(this.numbers, 0)) return;
      const { bytes, isLast } = this.parts.shift();
      this.bytes.set(bytes);
      this.numbers[1] = bytes.length;
      this.numbers[2] = Number(isLast);
      Atomics.store(this.numbers, 0, 1);
      this.worker.postMessage({});
    }

    async close(name, values) {
      this.worker?.terminate();
      const { t } = await words;
      this.dispatchEvent(Object.assign(new Event("close"), { code: 1011, reason: t(name, values) }));
    }
  }

  globalThis.openSocket = () => {
    socket = new EngineSocket();
    return socket;
  };

  // What is kept ---------------------------------------------------------------------

  // A message of the page, or what went wrong in words of Python.
  async function note(name) {
    const place = document.getElementById("site-note"), { t } = await words;
    place.textContent = t(name);
    place.hidden = false;
    place.onclick = () => { place.hidden = true; };
  }

  async function progress(share) {
    const link = document.getElementById("link"), { t, percent } = await words;
    if (!link.dataset.state) link.textContent = share < 1 ? t("link-loading", { share: percent(share) }) : t("loading-game");
  }

  function takeSettings(text) {
    for (const [name, value] of Object.entries(JSON.parse(text))) localStorage.setItem(name, value);
    location.reload();
  }

  async function forget() {
    const { t } = await words, { asked } = await dom;
    if (!await asked(t("storage-forget-ask"), t("storage-forget"))) return;
    socket.worker.terminate();
    localStorage.clear();
    sessionStorage.clear();
    for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name);
    location.replace(location.pathname);
  }

  function listen() {
    document.getElementById("tab-known").hidden = false; // soon the engine says so, too
    const put = (id, event, action) => document.getElementById(id).addEventListener(event, action);
    put("storage-save", "click", () => socket.worker.postMessage({ pack: JSON.stringify({ ...localStorage }) }));
    put("storage-read", "change", async (event) => {
      const [file] = event.target.files;
      if (file) socket.worker.postMessage({ unpack: new Uint8Array(await file.arrayBuffer()) });
    });
    put("storage-forget", "click", forget);
  }

  // The next visit -------------------------------------------------------------------

  // Files are kept once the engine is ready, so that nothing is slower before. A page that could
  // not be heard during a search is loaded again when its files are kept: it shares memory then.
  async function stay() {
    if (!navigator.serviceWorker) return;
    try {
      await navigator.serviceWorker.register("offline.js");
      await navigator.serviceWorker.ready;
      if (isDeaf() && !sessionStorage.getItem("numoku.again")) {
        sessionStorage.setItem("numoku.again", "yes");
        location.reload();
      }
    } catch (error) {
      console.warn(error);
    }
    navigator.storage?.persist?.();
  }

  // The test of this engine ------------------------------------------------------------

  function selftest() {
    const place = document.createElement("pre");
    place.id = "selftest";
    document.body.append(place);
    const ask = (what, fields) => socket.send(JSON.stringify({ do: what, id: `selftest ${what}`, ...fields }));
    const found = {};
    socket.addEventListener("message", (event) => {
      const { id, result, error } = JSON.parse(event.data);
      if (error) place.textContent = JSON.stringify({ error });
      if (!result) return; // an event of the analysis
      if (id === "selftest analyse") {
        found.ready_ms = Math.round(performance.now());
        ask("selftest");
      } else if (id === "selftest selftest") place.textContent = JSON.stringify({ ...result, ...found });
    });
    ask("analyse", { position: { width: 15, height: 15, rule: "freestyle", moves: [[7, 7]] }, depth: 1 });
  }

  document.addEventListener("DOMContentLoaded", () => {
    const isTest = location.hash === "#selftest";
    listen();
    let isReady = false;
    const wait = setInterval(() => {
      isReady = document.getElementById("link").dataset.state === "open";
      if (!isReady) return;
      clearInterval(wait);
      if (isTest) selftest(); // the page has its socket by now
      stay();
    }, 50);
  });
})();
