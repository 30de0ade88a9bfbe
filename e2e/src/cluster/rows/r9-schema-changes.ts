import { seededRandom } from "@shoal/seeded-random";
import type { Failures } from "../../faults/fault-row.js";
import { at } from "../../http-client.js";
import type { Cluster } from "../cluster.js";
import { inSync, isSameVersion, msUntil, pause, rowOnCluster, withOneAndThreeCopies } from "./row-on-cluster.js";
import { SchemaHistory } from "./schema-history.js";

const GATEWAYS = 8;
const CLASSES = ["First", "Second", "Third"];
const PROPERTIES = ["a", "b", "c", "d"];
const SAME_VERSION_MAX_MS = 1_000;
const DEADLOCK_MS = 30_000;
const AUTO = "Auto";

/**
 * R9: clients of eight gateways change and read the same classes at once. What they are answered has one linear order; after
 * the last change all processes know its version within a second. Meanwhile objects of a class that is deleted again
 * and again are imported by auto-schema: nothing gets stuck, and nothing of a deleted class comes back.
 */
export const R9_CLUSTER = withOneAndThreeCopies((copies) => ({
  id: "R9",
  on: "cluster",
  isNightly: copies > 1,
  title: "schema changes from 8 gateways at once, class delete during auto-schema import",
  needs: ["etcd"],
  run: (run) =>
    rowOnCluster({ copies, gateways: GATEWAYS, coordinators: 2 }, run, async (cluster, failures) => {
      const { size, random, say } = run;
      const rounds = size === "short" ? 2 : 20;
      let steps = 0;
      let unknown = 0;
      let slowestMs = 0;
      for (let round = 1; round <= rounds; round++) {
        const history = new SchemaHistory();
        const clients = cluster.gateways.map(async ({ http }) => {
          const chance = seededRandom(Math.floor(random() * 2 ** 31));
          for (let step = 0; step < 12; step++) {
            const className = chance.pick(CLASSES);
            const what = chance.below(10);
            if (what < 2) await history.create(http, className);
            else if (what < 3) await history.delete(http, className);
            else if (what < 6) await history.addProperty(http, className, chance.pick(PROPERTIES));
            else await history.read(http, className);
          }
        });
        const importing = deleteWhileImporting(cluster, failures, size === "short" ? 15 : 40);
        await Promise.all([...clients, importing]);
        const sameMs = await msUntil(() => isSameVersion(cluster), DEADLOCK_MS);
        failures.check(
          sameMs !== undefined && sameMs <= SAME_VERSION_MAX_MS,
          `one version everywhere after ${sameMs} ms`,
        );
        slowestMs = Math.max(slowestMs, sameMs ?? DEADLOCK_MS);
        for (const line of history.faults()) failures.add(line);
        await checkSameSchema(cluster, failures);
        if (copies > 1) await inSync(cluster, failures, `round ${round}`);
        steps += history.length;
        unknown += history.unknown;
        say(`round ${round}: ${history.length} steps, one version after ${Math.round(sameMs ?? -1)} ms`);
        for (const className of [...CLASSES, AUTO]) await cluster.http.delete(`/v1/schema/${className}`);
      }
      return {
        "recorded questions and answers": steps,
        "without a known outcome": unknown,
        "all processes on one version after (ms)": Math.round(slowestMs),
        failures: failures.count,
      };
    }),
}));

/** Half of the gateways import objects whose class and properties are new, while it is deleted elsewhere. */
async function deleteWhileImporting(cluster: Cluster, failures: Failures, objects: number): Promise<void> {
  const importers = cluster.gateways.slice(0, GATEWAYS / 2);
  const [deleter] = cluster.gateways.slice(-1);
  if (deleter === undefined) throw new Error("there is no gateway");
  let isImporting = true;
  const deleting = (async () => {
    while (isImporting) {
      const { status, text } = await deleter.http.delete(`/v1/schema/${AUTO}`);
      failures.check([200, 400, 503].includes(status), `deleting the class during its import: ${status} ${text}`);
      await pause(20);
    }
  })();
  const importing = importers.map(async ({ name, http }) => {
    for (let n = 0; n < objects; n++) {
      const begun = performance.now();
      const properties = { [`p${n % 7}`]: n, [`q${n % 5}`]: `text ${n}` };
      const { status, json, text } = await http.post("/v1/batch/objects", {
        objects: [{ class: AUTO, properties, vector: [n + 1, 1] }],
      });
      const message = at(json, 0, "result", "errors", "error", 0, "message");
      failures.check(status === 200, `importing at ${name}: ${status} ${text}`);
      failures.check(!/internal|undefined|TypeError/i.test(String(message ?? "")), `importing at ${name}: ${message}`);
      failures.check(performance.now() - begun < DEADLOCK_MS, `an import at ${name} was stuck`);
    }
  });
  await Promise.all(importing).finally(() => {
    isImporting = false;
  });
  await deleting;
}

async function checkSameSchema({ gateways }: Cluster, failures: Failures): Promise<void> {
  const schemas = await Promise.all(gateways.map(async ({ http }) => (await http.get("/v1/schema")).text));
  const distinct = new Set(schemas);
  failures.check(
    distinct.size === 1,
    `gateways answer ${distinct.size} schemas: ${[...distinct].join(" and ").slice(0, 600)}`,
  );
}
