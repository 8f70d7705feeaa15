// The service worker: all files stay for the next visit, and come from here then. They come with
// the headers that let the page and its worker share memory.

const VERSION = "{version}", FILES = {files};
const HEADERS = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Content-Security-Policy": "{policy}",
};
const own = (name) => new URL(name, self.registration.scope).href;

self.addEventListener("install", (event) => event.waitUntil((async () => {
  const cache = await caches.open(VERSION);
  for (const name of FILES) await cache.put(own(name), await whole(name));
  await self.skipWaiting();
})()));

async function whole(name) {
  const answer = await fetch(new Request(own(name), { cache: "no-cache" }));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer;
}

self.addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name !== VERSION && name.startsWith("numoku-")) await caches.delete(name);
  await self.clients.claim();
})()));

self.addEventListener("fetch", (event) => {
  if (event.request.method === "GET" && event.request.url.startsWith(self.registration.scope)) event.respondWith(answerTo(event.request));
});

async function answerTo(request) {
  const address = new URL(request.url);
  address.search = address.hash = "";
  if (address.href === self.registration.scope) address.href = own("index.html");
  const cache = await caches.open(VERSION);
  const found = await cache.match(address.href) || await fetch(request);
  const headers = new Headers(found.headers);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  return new Response(found.body, { status: found.status, statusText: found.statusText, headers });
}
