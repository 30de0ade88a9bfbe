// npm run request-path: the source files that a write and a query enter, of a server in this process, without the bundle.
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ask, post } from "../bench/ask.js";
import { freePort } from "../bench/shoal-server.js";
import { EnteredFunctions } from "./entered-functions.js";

const PACKAGES = new URL("../../../packages/", import.meta.url);
const DIST = "/dist/";
const WARM_REQUESTS = 200;
const RUNS = 4;
const READY_POLL_MS = 50;
const DIMENSIONS = 8;

let asked = 0;

/** No two are alike: nothing may be answered from a cache. */
function nextVector(): readonly number[] {
  asked++;
  return Array.from({ length: DIMENSIONS }, (_, place) => Math.sin(asked * (place + 1)));
}

const requests: readonly { readonly name: string; readonly send: (server: URL) => Promise<void> }[] = [
  {
    name: "POST /v1/objects, with a vector",
    send: (server) =>
      post(server, "/v1/objects", { class: "Word", properties: { text: `word ${asked}` }, vector: nextVector() }),
  },
  {
    name: "GraphQL Get with nearVector, limit 10, prepared",
    send: (server) => {
      const near = `nearVector: { vector: [${nextVector().join(", ")}] }, limit: 10`;
      return post(server, "/v1/graphql", { query: `{ Get { Word(${near}) { text _additional { id certainty } } } }` });
    },
  },
];

/** By package, as paths in `packages/`: `gateway/src/http/route.ts` for what was compiled of it. */
function sourcesOf(modules: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const byPackage = new Map<string, string[]>();
  for (const url of [...modules].sort()) {
    const [name = "", file = ""] = url.slice(PACKAGES.href.length).split(DIST);
    const files = byPackage.get(name) ?? [];
    files.push(`src/${file.replace(/\.js$/, ".ts")}`);
    byPackage.set(name, files);
  }
  return byPackage;
}

function report(name: string, modules: ReadonlySet<string>): string {
  const lines = [...sourcesOf(modules)].map(
    ([from, files]) => `  ${from} (${files.length})\n${files.map((file) => `    ${file}\n`).join("")}`,
  );
  return `${name}: ${modules.size} files\n${lines.join("")}\n`;
}

/** Starts the server as `shoal serve` would, on a folder that goes with this process. */
async function startServer(): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), "shoal-request-path-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const url = new URL(`http://127.0.0.1:${await freePort()}`);
  const settings = { HOST: url.hostname, PORT: url.port, PERSISTENCE_DATA_PATH: folder, LOG_LEVEL: "error" };
  Object.assign(process.env, settings);
  process.env.UV_THREADPOOL_SIZE ||= "64";
  process.argv = [process.argv[0] ?? "", fileURLToPath(new URL("cli/dist/start.js", PACKAGES)), "serve"];
  // Over when the server has ended.
  void import(new URL("cli/dist/start.js", PACKAGES).href);
  const isReady = () =>
    ask(url, "/v1/.well-known/ready").then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await isReady())) await sleep(READY_POLL_MS);
  return url;
}

const server = await startServer();
await post(server, "/v1/schema", { class: "Word", properties: [{ name: "text", dataType: ["text"] }] });
for (const { send } of requests) {
  for (let sent = 0; sent < WARM_REQUESTS; sent++) await send(server);
}
using entered = new EnteredFunctions((url) => url.startsWith(PACKAGES.href) && url.includes(DIST));
for (const { name, send } of requests) {
  process.stdout.write(report(name, await entered.modulesOf(() => send(server), RUNS)));
}
process.kill(process.pid, "SIGTERM");
