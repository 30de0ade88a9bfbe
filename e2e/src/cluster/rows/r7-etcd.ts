import type { Failures } from "../../faults/fault-row.js";
import { KnownData, type KnownObject } from "../../faults/known-data.js";
import { at, errorOf } from "../../http-client.js";
import type { Cluster } from "../cluster.js";
import type { ClusterMember } from "../cluster-member.js";
import type { CopyChanges } from "./copy-changes.js";
import { inSync, msUntil, pause, rowOnCluster, withOneAndThreeCopies } from "./row-on-cluster.js";

const DIMENSIONS = 16;
const RESUMED_MAX_MS = 3_000;
const REFUSED_MAX_MS = 5_000;
const RETURN_MAX_MS = 30_000;
const READS = 20;
/** `SHARD_WAIT_SECONDS`, and what a busy machine takes. */
const READ_MAX_MS = 25_000;

/**
 * R7: the leader of etcd is killed under a stream of schema changes, which resume in 3 s; then all of etcd is gone: data is
 * written and read with the known schema, also by a storage node and a gateway that were restarted meanwhile, while schema
 * changes answer 503. Every change that was acknowledged is there in the end. Where shards have copies the storage node that was
 * restarted leads none before etcd is back; until then what needs it is refused, and what is answered is right.
 */
export const R7_CLUSTER = withOneAndThreeCopies((copies) => ({
  id: "R7",
  on: "cluster",
  isNightly: copies > 1,
  title: "etcd's leader is killed, all of etcd is gone",
  needs: ["etcd"],
  run: (run) =>
    rowOnCluster({ copies, etcdMembers: 3, coordinators: 2 }, run, async (cluster, failures, changes) => {
      const { size, random, say } = run;
      const data = KnownData.random(cluster.http, "Kept", size === "short" ? 1_000 : 10_000, DIMENSIONS, random);
      await data.createClass(3);
      // The first vector is the last that needs the coordinator.
      const [first] = data.objects;
      await cluster.http.post("/v1/batch/objects", { objects: first === undefined ? [] : [data.body(first)] });
      const classes = new ClassStream(cluster);
      let slowestMs = 0;
      for (let round = 1; round <= (size === "short" ? 1 : 10); round++) {
        const leader = await cluster.etcd.leader();
        await classes.makeOne();
        await leader.kill();
        const resumedMs = await msUntil(() => classes.makeOne(), RETURN_MAX_MS);
        failures.check((resumedMs ?? RETURN_MAX_MS) <= RESUMED_MAX_MS, `schema changes resumed after ${resumedMs} ms`);
        slowestMs = Math.max(slowestMs, resumedMs ?? RETURN_MAX_MS);
        say(`round ${round}: ${leader.name} killed, schema changes resumed after ${Math.round(resumedMs ?? -1)} ms`);
        await leader.launch();
        await cluster.etcd.ready();
      }
      await classes.check(failures);

      for (const one of cluster.etcd.processes) await one.kill();
      const trouble = await data.import();
      failures.check(trouble === undefined, `without etcd an import fails: ${trouble}`);
      await refusesChanges(cluster, failures);
      await checkData(data, failures, "without etcd");
      const [storageNode] = cluster.storageNodes;
      const [gateway] = cluster.gateways;
      if (storageNode === undefined || gateway === undefined)
        throw new Error("a storage node and a gateway are needed");
      for (const member of copies === 1 ? [storageNode, gateway] : [gateway]) {
        await member.stop();
        member.spawn();
        // A storage node that cannot register says that it is not ready, and serves what it has.
        const path = `/v1/objects?class=${data.className}&limit=1`;
        const servedMs = await msUntil(async () => (await cluster.http.get(path)).status === 200, RETURN_MAX_MS);
        failures.check(servedMs !== undefined, `${member.name} serves nothing after a restart without etcd`);
        await checkData(data, failures, `without etcd, after a restart of ${member.name}`);
      }
      const restarted = copies === 1 ? undefined : await restartCopies(storageNode, changes, data, failures);
      for (const one of cluster.etcd.processes) one.spawn();
      const backMs = await msUntil(() => classes.makeOne(), RETURN_MAX_MS);
      failures.check(backMs !== undefined, `no schema change succeeds ${RETURN_MAX_MS} ms after etcd is back`);
      await inSync(cluster, failures, "with etcd back");
      restarted?.end();
      await classes.check(failures);
      await checkData(data, failures, "with etcd back");
      return {
        "schema changes made": classes.made.length,
        "slowest resumption after the leader's end (ms)": Math.round(slowestMs),
        "first schema change after all of etcd is back (ms)": Math.round(backMs ?? -1),
        ...(restarted === undefined
          ? {}
          : {
              "reads refused of a node restarted without etcd": restarted.refused,
              "the slowest of them (ms)": restarted.tookMs,
            }),
        failures: failures.count,
      };
    }),
}));

/** A storage node with copies restarts without etcd: reads by id are right or refused. Until `end` its copies may be taken out. */
async function restartCopies(node: ClusterMember, changes: CopyChanges, data: KnownData, failures: Failures) {
  const end = changes.begin([node.name]);
  await node.stop();
  node.spawn();
  const begun = performance.now();
  let refused = 0;
  const read = async ({ id, n }: KnownObject): Promise<void> => {
    const { status, json, text } = await data.http.get(`/v1/objects/${id}`);
    if (status === 503) refused += 1;
    else
      failures.check(at(json, "properties", "n") === n, `without etcd, object ${n}: ${status} ${text.slice(0, 300)}`);
  };
  await Promise.all(data.objects.slice(0, READS).map(read));
  const tookMs = Math.round(performance.now() - begun);
  failures.check(tookMs <= READ_MAX_MS, `without etcd, a read of a restarted node takes ${tookMs} ms`);
  return { end, refused, tookMs };
}

async function checkData(data: KnownData, failures: Failures, when: string): Promise<void> {
  const before = failures.count;
  await data.checkIds(failures, true);
  await data.checkVectors(failures, 100);
  await data.checkFilters(failures, 20);
  failures.check(failures.count === before, `the data is not right ${when}`);
}

/** Without a store, every kind of schema change is refused soon and says why. */
async function refusesChanges({ http }: Cluster, failures: Failures): Promise<void> {
  const property = { name: "other", dataType: ["int"] };
  const asked = [
    ["POST class", () => http.post("/v1/schema", { class: "Unstored" })],
    ["POST property", () => http.post("/v1/schema/Kept/properties", property)],
    ["DELETE class", () => http.delete("/v1/schema/Kept")],
    ["auto-schema", () => http.post("/v1/objects", { class: "Unseen", properties: { a: "b" }, vector: [1] })],
  ] as const;
  for (const [what, ask] of asked) {
    const begun = performance.now();
    const answer = await ask();
    const tookMs = performance.now() - begun;
    failures.check(answer.status === 503, `${what} without etcd: ${answer.status} ${answer.text}`);
    failures.check(answer.headers.has("retry-after"), `${what} without etcd: no Retry-After`);
    failures.check(/coordinator|etcd/.test(String(errorOf(answer))), `${what} without etcd: ${answer.text}`);
    failures.check(tookMs < REFUSED_MAX_MS, `${what} without etcd took ${Math.round(tookMs)} ms`);
  }
}

/** Makes one class after the other, and knows which of them were acknowledged. */
class ClassStream {
  readonly made: string[] = [];
  #number = 0;

  constructor(readonly cluster: Cluster) {}

  /** Whether it was acknowledged. */
  async makeOne(): Promise<boolean> {
    const className = `Made${this.#number++}`;
    const { status } = await this.cluster.http.post("/v1/schema", {
      class: className,
      shardingConfig: { desiredCount: 1 },
    });
    if (status === 200) this.made.push(className);
    else await pause(10);
    return status === 200;
  }

  /** Every acknowledged class is there, at every gateway. */
  async check(failures: Failures): Promise<void> {
    for (const { name, http } of this.cluster.gateways) {
      const classes = at((await http.get("/v1/schema")).json, "classes");
      const names = new Set(Array.isArray(classes) ? classes.map((one) => at(one, "class")) : []);
      for (const one of this.made)
        failures.check(names.has(one), `${name} does not know the acknowledged class ${one}`);
    }
  }
}
