// node e2e/dist/faults/make-fixture.js FORMAT: packs a small data folder of the format that this release writes into
// e2e/fixtures/data-format-FORMAT.tgz. Run it once, by the release that brings a new format; never overwrite an old one.
import { execFileSync } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { seededRandom } from "@shoal/seeded-random";
import { randomId } from "../random-objects.js";
import { ServerProcess } from "../server-process.js";

const OBJECTS = 20;
const format = Number(process.argv[2]);
if (!Number.isSafeInteger(format)) throw new Error("usage: make-fixture FORMAT");
const target = fileURLToPath(new URL(`../../fixtures/data-format-${format}.tgz`, import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "shoal-fixture-"));
const random = seededRandom(format).next;
try {
  await using server = await ServerProcess.start();
  await server.http.post("/v1/schema", {
    class: "Fixture",
    properties: [{ name: "n", dataType: ["int"] }],
    shardingConfig: { desiredCount: 2 },
  });
  for (let n = 0; n < OBJECTS; n++) {
    const vector = [Math.sin(n / OBJECTS), Math.cos(n / OBJECTS)];
    const body = { class: "Fixture", id: randomId(random), properties: { n }, vector };
    const answer = await server.http.post("/v1/objects", body);
    if (answer.status !== 200) throw new Error(answer.text);
    // Half of it in snapshots, the rest only in the journal.
    if (n === OBJECTS / 2) await server.restart();
  }
  await server.kill();
  await cp(server.dataPath, join(folder, "data"), { recursive: true });
  const left = ["BALLAST", "LOG", "LOG.old*", "LOCK"].map((name) => `--exclude=${name}`);
  execFileSync("tar", ["-czf", target, "--owner=0", "--group=0", ...left, "-C", folder, "data"]);
  console.log(target);
} finally {
  await rm(folder, { recursive: true, force: true });
}
