import type { Failures } from "../../faults/fault-row.js";
import { KnownData } from "../../faults/known-data.js";
import { at, type HttpClient } from "../../http-client.js";
import type { Cluster } from "../cluster.js";
import { inSync, msUntil, pause, rowOnCluster, withOneAndThreeCopies } from "./row-on-cluster.js";

const DIMENSIONS = 16;
const SHARDS = 6;
const RETRY_PAUSE_MS = 100;
const HEALED_MAX_MS = 30_000;
/** So long does an import wait for another copy to take over. */
const STALL_MS_MAX = 5_000;
const WAYS = ["both ways", "from it", "to it"] as const;

/**
 * R5: a storage node is cut off from all other processes, both ways and one way, while objects are imported and classes come,
 * change and go. When the network is whole again everything acknowledged is there once, and nobody answers by the old
 * schema: a class that was deleted and made again has no old object, a class made meanwhile works on the node.
 * With three copies the import goes on meanwhile.
 * Then a gateway is cut off from the coordinators: it does not tell an old schema for long after it is healed.
 */
export const R5_CLUSTER = withOneAndThreeCopies((copies) => ({
  id: "R5",
  on: "cluster",
  isNightly: copies > 1,
  title: "network partition of a node, both ways and one way",
  needs: ["etcd", "root", "ip", "nft"],
  run: (run) =>
    rowOnCluster({ copies, network: "namespaces" }, run, async (cluster, failures, changes) => {
      const { size, random, say } = run;
      const [cutMs, count] = size === "short" ? [5_000, 2_000] : [30_000, 20_000];
      const figures: Record<string, string | number> = { "cut for (ms)": cutMs };
      for (const way of WAYS) {
        const suffix = way.replaceAll(" ", "");
        const { http } = cluster;
        const data = KnownData.random(http, `Kept_${suffix}`, count, DIMENSIONS, random);
        await data.createClass(SHARDS);
        const changed = new ChangedClasses(http, suffix, random);
        await changed.before();
        const victim = cluster.storageNodes[Math.floor(random() * cluster.storageNodes.length)];
        if (victim === undefined) throw new Error("there is no storage node");

        let importedMs = 0;
        let longestStallMs = 0;
        await changes.during(
          [victim.name],
          async () => {
            cluster.network.isolate(victim.name, way);
            const healing = pause(cutMs).then(() => cluster.network.heal());
            const importing = importAll(data).then((stallMs) => {
              longestStallMs = stallMs;
              importedMs = performance.now();
            });
            await changed.meanwhile(failures, victim.name);
            await healing;
            const healedMs = performance.now();
            await changed.repeat(failures);
            await importing;
            importedMs -= healedMs;
            const usedMs = await msUntil(async () => (await changed.works(cluster)) === undefined, HEALED_MAX_MS);
            failures.check(
              usedMs !== undefined,
              `${way}: ${HEALED_MAX_MS} ms after healing: ${await changed.works(cluster)}`,
            );
            if (copies > 1) await inSync(cluster, failures, `cut off ${way}`);
          },
          "cut off",
        );
        if (copies > 1) {
          failures.check(longestStallMs <= STALL_MS_MAX, `${way}: the import stood for ${longestStallMs} ms`);
          figures[`longest stall of the import, ${way} (ms)`] = longestStallMs;
        }
        const before = failures.count;
        await data.checkIds(failures, true);
        await data.checkFilters(failures);
        await data.checkVectors(failures);
        await changed.after(failures);
        failures.check(victim.running, `${victim.name} has ended`);
        say(
          `${victim.name} ${way}: all imported ${Math.round(importedMs)} ms after healing, ${failures.count - before} failures`,
        );
        figures[`all acknowledged after healing, ${way} (ms)`] = Math.round(importedMs);
      }
      figures["gateway answers the new schema after healing (ms)"] = await cutGateway(cluster, failures);
      return { ...figures, "lost, doubled, changed or stale": failures.count };
    }),
}));

/** The longest time in which nothing was acknowledged, in ms. */
async function importAll(data: KnownData): Promise<number> {
  let lastMs = performance.now();
  let longestMs = 0;
  const onProgress = (): void => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  while ((await data.import(onProgress)) !== undefined) await pause(RETRY_PAUSE_MS);
  return Math.round(longestMs);
}

/** Classes that change while a node hears nothing of it. */
class ChangedClasses {
  readonly #again: KnownData;
  readonly #gone: KnownData;
  readonly #made: KnownData;

  constructor(
    readonly http: HttpClient,
    suffix: string,
    random: () => number,
  ) {
    const data = (name: string) => KnownData.random(http, `${name}_${suffix}`, 60, DIMENSIONS, random);
    this.#again = data("Again");
    this.#gone = data("Gone");
    this.#made = data("Made");
  }

  async before(): Promise<void> {
    for (const data of [this.#again, this.#gone]) {
      await data.createClass(SHARDS);
      await importAll(data);
    }
  }

  /**
   * A class is made while a node is away, and one that is deleted is gone at once, for whoever asks. The deletion is answered with
   * 503 that names the node, which may still take writes into it, and no class of that name is made until it is back.
   */
  async meanwhile(failures: Failures, victim: string): Promise<void> {
    const deletions = [this.#gone, this.#again].map(({ className }) => this.http.delete(`/v1/schema/${className}`));
    await this.#made.createClass(SHARDS);
    for (const { status, text } of await Promise.all(deletions)) {
      failures.check(status === 200 || (status === 503 && text.includes(`'${victim}'`)), `DELETE: ${status} ${text}`);
    }
    for (let i = 0; i < 4; i++) {
      const classes = await classNames(this.http);
      const isRight =
        classes.includes(this.#made.className) &&
        ![this.#gone, this.#again].some(({ className }) => classes.includes(className));
      failures.check(isRight, `an old schema was answered while a node was cut off: ${classes}`);
    }
  }

  /** Once the node is back: what is repeated is answered as the success that it is. */
  async repeat(failures: Failures): Promise<void> {
    for (const { className } of [this.#gone, this.#again]) {
      const isDone = async () => [200, 400].includes((await this.http.delete(`/v1/schema/${className}`)).status);
      failures.check((await msUntil(isDone, HEALED_MAX_MS)) !== undefined, `DELETE ${className} never ends`);
    }
    await this.#again.createClass(SHARDS);
    this.#again.acknowledged.clear();
  }

  /** What does not work yet on all shards. */
  async works({ http }: Cluster): Promise<string | undefined> {
    for (const { className } of [this.#again, this.#made]) {
      const { text, json } = await http.graphql(`{ Aggregate { ${className} { meta { count } } } }`);
      if (at(json, "data", "Aggregate", className, 0, "meta", "count") === undefined) return text;
    }
    return undefined;
  }

  /** Nothing of what was deleted, and everything that is sent now. */
  async after(failures: Failures): Promise<void> {
    await this.#again.checkIds(failures, true);
    for (const data of [this.#again, this.#made]) {
      await importAll(data);
      await data.checkIds(failures, true);
      await data.checkVectors(failures);
    }
    const [gone] = this.#gone.objects;
    const { status } = await this.http.get(`/v1/objects/${gone?.id}`);
    failures.check(status === 404, `an object of a deleted class gives ${status}`);
  }
}

/** How long after healing a gateway that was cut off from the coordinators tells of a class that was made meanwhile. */
async function cutGateway(cluster: Cluster, failures: Failures): Promise<number> {
  const [cutOff, other] = cluster.gateways;
  if (cutOff === undefined || other === undefined) throw new Error("two gateways are needed");
  for (const { name } of cluster.coordinators) cluster.network.cut(cutOff.name, name);
  const made = await other.http.post("/v1/schema", { class: "BehindTheBack" });
  failures.check(made.status === 200, `creating a class at the other gateway: ${made.status} ${made.text}`);
  const during = await cutOff.http.get("/v1/schema/BehindTheBack");
  failures.check([200, 404, 503].includes(during.status), `the gateway that is cut off answers ${during.status}`);
  cluster.network.heal();
  const seenMs = await msUntil(async () => (await classNames(cutOff.http)).includes("BehindTheBack"), HEALED_MAX_MS);
  failures.check(seenMs !== undefined, `${cutOff.name} does not learn of a class after ${HEALED_MAX_MS} ms`);
  return Math.round(seenMs ?? -1);
}

async function classNames(http: HttpClient): Promise<readonly string[]> {
  const { json } = await http.get("/v1/schema");
  const classes = at(json, "classes");
  return Array.isArray(classes) ? classes.map((one) => String(at(one, "class"))) : [];
}
