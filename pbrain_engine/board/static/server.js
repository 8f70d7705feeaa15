// The connection to the server. A question stays until it is answered: after a lost connection it is
// asked again with the next one, a few times: it may be what ended the engine. Its result has
// isAgain then, as it may have been done before.

import { remember, remembered } from "./kept.js";
import { said, t } from "./words.js";

const FIRST_PAUSE = 300, LONGEST_PAUSE = 5000, REFUSED = 1008;
const MOST_TRIES = 5; // of a question
const MOST_CHARACTERS = 12_000_000; // of a message, as the server has it

const stopped = (id) => ({ id, error: "stopped", stopped: true });

export class Server {
  constructor(onstate, onidle) {
    this.onstate = onstate; // gets "open", "lost", "back" or "refused", and a reason
    this.onidle = onidle; // called when all questions are answered, and nothing was asked because of that
    this.questions = new Map(); // those without an answer, in their order
    this.number = 0;
    this.pause = FIRST_PAUSE;
    this.wasOpen = false;
    const given = new URLSearchParams(location.search).get("token")?.replace(/.*token=|[&#].*/g, "").trim(); // perhaps of a whole address
    if (given) remember("token", given);
    this.token = given || remembered("token", "");
  }

  get isOpen() { return this.about && !(this.socket.readyState > WebSocket.OPEN); } // the site's socket has no state

  connect() {
    const place = location.origin.replace(/^http/, "ws");
    // A page without a server brings a socket of its own, to an engine that runs in the browser.
    const open = globalThis.openSocket || ((address) => new WebSocket(address));
    const socket = open(`${place}/api/socket?token=${encodeURIComponent(this.token)}`);
    this.socket = socket;
    // The server accepts before it refuses, so that its reason arrives; the answer to a first
    // question tells that it did not.
    socket.addEventListener("open", () => socket.send('{"do":"engine","id":"hello"}'));
    socket.addEventListener("message", (event) => this.take(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => this.lost(event));
  }

  take(message) {
    if (message.id === "hello") {
      this.about = message.result;
      this.pause = FIRST_PAUSE;
      for (const [id, question] of [...this.questions]) {
        if (question.isStopped) this.take(stopped(id));
        else if (question.tries === MOST_TRIES) this.take({ id, error: t("lost") });
        else this.send(question);
      }
      this.onstate(this.wasOpen ? "back" : "open");
      this.wasOpen = true;
      return;
    }
    const question = this.questions.get(message.id);
    if (message.event) question?.onevent?.(message.event);
    else if (this.questions.delete(message.id)) {
      const { result = message } = message;
      if (message.error) message.error = said(message);
      result.isAgain = question.tries > 1;
      question.resolve(result);
      setTimeout(() => { if (!this.questions.size) this.onidle(); });
    }
  }

  lost(event) {
    this.about = null;
    const isRefused = event.code === REFUSED;
    this.onstate(isRefused ? "refused" : "lost", event.reason);
    if (isRefused) return;
    setTimeout(() => this.connect(), this.pause);
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
  }

  // Ask something; resolves with the result, or with an { error } that says why not.
  ask(what, fields = {}, onevent = null) {
    const id = ++this.number, text = JSON.stringify({ do: what, id, ...fields }), { promise, resolve } = Promise.withResolvers();
    const question = { text, onevent, resolve, tries: 0 };
    if (text.length > MOST_CHARACTERS) resolve({ error: t("too-large-server") });
    else this.questions.set(id, question);
    if (this.questions.has(id) && this.isOpen) this.send(question);
    return Object.assign(promise, { id });
  }

  send(question) {
    question.tries++;
    this.socket.send(question.text);
  }

  stop(id) {
    const question = this.questions.get(id);
    if (!question) return;
    question.isStopped = true;
    if (this.isOpen) this.socket.send(JSON.stringify({ do: "stop", id: null, target: id }));
    else this.take(stopped(id));
  }
}
