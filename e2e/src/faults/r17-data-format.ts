import { execFileSync } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openRocksStore } from "@shoal/kv";
import { errorOf, graphqlErrors } from "../http-client.js";
import { ServerProcess } from "../server-process.js";
import { Failures, type FaultRow } from "./fault-row.js";
import { storeFolders } from "./store-folders.js";

/** A data folder of each format that a release has written, and what it holds: see fixtures/README.md. */
const FIXTURES = fileURLToPath(new URL("../../fixtures/", import.meta.url));
const FORMATS = [1];

/** Key of the format record: of a shard (u32 at offset 8), of the coordinator's store (JSON). */
const SHARD_FORMAT_KEY = Uint8Array.of(0);
const SHARD_VERSION_OFFSET = 8;
const META_FORMAT_KEY = Buffer.from("f");
const NEWER = 99;

/** R17: data of every earlier format opens and answers; data of a newer format is refused with a message that names it. */
export const R17: FaultRow = {
  id: "R17",
  title: "data of older and newer formats",
  needs: [],
  run: async ({ say }) => {
    const failures = new Failures();
    let opened = 0;
    let refused = 0;
    for (const format of FORMATS) {
      const folder = await mkdtemp(join(tmpdir(), "shoal-format-"));
      const dataPath = join(folder, "data");
      try {
        execFileSync("tar", ["-xzf", join(FIXTURES, `data-format-${format}.tgz`), "-C", folder]);
        await cp(dataPath, join(folder, "copy"), { recursive: true });
        await using server = await ServerProcess.start({ dataPath });
        const before = failures.count;
        await checkFixture(server, failures, `format ${format}`);
        if (failures.count === before) opened += 1;
        await server.stop();

        for (const kind of ["shard", "schema"] as const) {
          await rm(dataPath, { recursive: true });
          await cp(join(folder, "copy"), dataPath, { recursive: true });
          const changed = await raiseFormat(dataPath, kind);
          failures.check(changed > 0, `no ${kind} has a format record`);
          const said = await refusal(server, kind);
          failures.check(said?.includes(String(NEWER)) === true, `${kind} of format ${NEWER}: ${said}`);
          say(`${kind}: ${said}`);
          if (said !== undefined) refused += 1;
          if (server.running) await server.kill();
        }
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }
    return {
      figures: { "older formats opened": opened, "newer formats refused": refused },
      failures: failures.lines,
    };
  },
};

async function checkFixture(server: ServerProcess, failures: Failures, what: string): Promise<void> {
  const rows = await server.http.rows(
    "Fixture",
    "{ Get { Fixture(nearVector: {vector: [0, 1]}, limit: 100) { n _additional { id certainty } } } }",
  );
  failures.check(rows.length === 20 && rows[0]?.n === 0, `${what}: ${JSON.stringify(rows).slice(0, 300)}`);
  const listed = await server.http.rows("Fixture", "{ Get { Fixture(limit: 100) { n } } }");
  failures.check(listed.length === 20, `${what}: ${listed.length} objects listed`);
  const where = '{path: ["n"], operator: LessThan, valueInt: 5}';
  const filtered = await server.http.rows("Fixture", `{ Get { Fixture(where: ${where}, limit: 100) { n } } }`);
  const numbers = filtered.map(({ n }) => Number(n)).sort();
  failures.check(String(numbers) === "0,1,2,3,4", `${what}: ${numbers} found below 5`);
  const post = await server.http.post("/v1/objects", { class: "Fixture", vector: [1, 1] });
  failures.check(post.status === 200, `${what}: POST gives ${post.status} ${post.text}`);
}

async function raiseFormat(dataPath: string, kind: "shard" | "schema"): Promise<number> {
  const key = kind === "shard" ? SHARD_FORMAT_KEY : META_FORMAT_KEY;
  let changed = 0;
  for (const folder of await storeFolders(dataPath)) {
    await using store = await openRocksStore({ folder, ballastBytes: 0 });
    const value = await store.get(key);
    if (value === undefined) continue;
    const raised = kind === "shard" ? Buffer.from(value) : Buffer.from(String(NEWER));
    if (kind === "shard") raised.writeUInt32LE(NEWER, SHARD_VERSION_OFFSET);
    await store.write([{ type: "put", key, value: raised }]);
    changed += 1;
  }
  return changed;
}

/** What the server says: at the start, which then ends with 1, or as the error of every request to the shard. */
async function refusal(server: ServerProcess, kind: string): Promise<string | undefined> {
  const before = server.output.length;
  server.spawn();
  const ready = await server.ready().then(
    () => true,
    () => false,
  );
  if (!ready) {
    const { code } = await server.exited();
    return code === 1 ? server.output.slice(before).trim() : undefined;
  }
  if (kind === "schema") return undefined;
  const answer = await server.http.graphql("{ Get { Fixture(limit: 100) { n } } }");
  const write = await server.http.post("/v1/objects", { class: "Fixture", vector: [1, 1] });
  return write.status >= 500 ? String(graphqlErrors(answer)[0] ?? errorOf(write)) : undefined;
}
