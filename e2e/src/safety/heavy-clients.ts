import { request } from "node:http";

/**
 * A process of clients that ask for as much as they may: `node heavy-clients.js URL [TOKEN …]`, one client a token, four
 * without any. Each keeps four connections busy: a list of 10,000 objects, two kinds of large GraphQL, and batches. It
 * runs until it is killed, and prints a line after its first answer.
 */
const [url = "", ...tokens] = process.argv.slice(2);

const LIST = "/v1/objects?class=Item&limit=10000&include=vector";
const fields = "name number _additional { id vector }";
const LARGE_GET = { query: `{ Get { a: Item(limit: 5000) { ${fields} } b: Item(limit: 5000) { ${fields} } } }` };
const PLAIN_GET = { query: `{ Get { Item(limit: 10000) { name number } } __schema { queryType { name } } }` };
const BATCH = {
  objects: Array.from({ length: 500 }, (_, i) => ({
    class: "Batched",
    properties: { name: `item ${i} ${"x".repeat(200)}` },
    vector: Array.from({ length: 100 }, (__, at) => Math.sin(i * 100 + at)),
  })),
};

function ask(method: string, path: string, token: string | undefined, body?: unknown): Promise<number> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const headers = {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(text === undefined ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }),
    };
    const outgoing = request(url + path, { method, headers }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode ?? 0));
      answer.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(text);
  });
}

let isBusy = false;

async function repeat(work: () => Promise<number>): Promise<void> {
  for (;;) {
    const status = await work().catch(() => 0);
    if (!isBusy) console.log("busy");
    isBusy = true;
    // Refused: a client that came back at once would be another kind of flood.
    if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

for (const token of tokens.length === 0 ? [undefined, undefined, undefined, undefined] : tokens) {
  void repeat(() => ask("GET", LIST, token));
  void repeat(() => ask("POST", "/v1/graphql", token, LARGE_GET));
  void repeat(() => ask("POST", "/v1/graphql", token, PLAIN_GET));
  void repeat(() => ask("POST", "/v1/batch/objects", token, BATCH));
}
