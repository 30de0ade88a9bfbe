import type { Failures, FaultRun } from "../../faults/fault-row.js";
import { KnownData } from "../../faults/known-data.js";
import { type Answer, at, errorOf, graphqlErrors, type HttpClient } from "../../http-client.js";
import { randomId } from "../../random-objects.js";
import type { Cluster } from "../cluster.js";
import type { ClusterMember } from "../cluster-member.js";
import { classOnEach, nodeReports } from "../shard-owners.js";
import { inSync, msUntil, pause, rowOnCluster, withOneAndThreeCopies } from "./row-on-cluster.js";

const DIMENSIONS = 16;
const SHARDS = 6;
/** One more attempt within a second, and the time that a busy machine takes. */
const ANSWER_MAX_MS = 3_000;
const RECOVERY_MAX_MS = 20_000;
/** After so long another copy has taken over. */
const FAILOVER_MAX_MS = 5_000;
/** What clients of copies do meanwhile is asked so often. */
const ASKED_EVERY_MS = 50;

/**
 * R4: a storage node is killed and stays away. What needs its shards fails soon, naming node and shard; everything else is
 * answered as before. When the node is back, everything is. With three copies no search fails at all, and nothing else once another
 * copy has taken over; what is asked before that waits.
 */
export const R4_CLUSTER = withOneAndThreeCopies((copies) => ({
  id: "R4",
  on: "cluster",
  title: "a storage node is down",
  needs: ["etcd"],
  run: (run) =>
    rowOnCluster({ copies }, run, async (cluster, failures, changes) => {
      const { random } = run;
      const { storageNodes } = cluster;
      const victim = storageNodes[Math.floor(random() * storageNodes.length)];
      if (victim === undefined) throw new Error("there is no storage node");
      if (copies === 1) return withoutCopies(cluster, victim, failures, run);
      return changes.during([victim.name], () => withCopies(cluster, victim, failures, run));
    }),
}));

async function filled(http: HttpClient, className: string, shards: number, run: FaultRun): Promise<KnownData> {
  const data = KnownData.random(http, className, run.size === "short" ? 300 : 3_000, DIMENSIONS, run.random);
  await data.createClass(shards);
  const trouble = await data.import();
  if (trouble !== undefined) throw new Error(trouble);
  return data;
}

async function checkReports(http: HttpClient, victim: string, failures: Failures): Promise<void> {
  for (const { name, status, shards } of await nodeReports(http)) {
    const wanted = name === victim ? "UNAVAILABLE" : "HEALTHY";
    failures.check(status === wanted, `/v1/nodes says ${name} is ${status}, not ${wanted}`);
    failures.check(name !== victim || shards.length === 0, `/v1/nodes lists shards of ${name}`);
  }
}

async function withoutCopies(
  { http, storageNodes }: Cluster,
  victim: ClusterMember,
  failures: Failures,
  run: FaultRun,
) {
  const { random, say } = run;
  const singles = new Map<string, KnownData>();
  const names = storageNodes.map(({ name }) => name);
  const classOf = await classOnEach(
    http,
    names,
    async (name) => void singles.set(name, await filled(http, name, 1, run)),
  );
  const spread = await filled(http, "Spread", SHARDS, run);
  await victim.kill();
  const down = new DownNode(http, victim.name, failures);

  await checkReports(http, victim.name, failures);
  for (const [node, className] of classOf) {
    const data = singles.get(className);
    if (data === undefined) throw new Error(`nothing is known of ${className}`);
    if (node === victim.name) await down.checkClass(data);
    else await checkAll(data, failures);
  }
  const { there, away } = await down.checkSpread(spread, random);
  say(`of a class of ${SHARDS} shards ${there} objects are answered, ${away} are not`);

  await victim.launch();
  const backMs = await msUntil(
    async () => (await http.get(`/v1/objects?class=Spread&limit=1`)).status === 200,
    RECOVERY_MAX_MS,
  );
  failures.check(backMs !== undefined, `${victim.name} is not used again after ${RECOVERY_MAX_MS} ms`);
  const before = failures.count;
  for (const data of [...singles.values(), spread]) {
    if ([...classOf.values(), "Spread"].includes(data.className)) await checkAll(data, failures);
  }
  failures.check(failures.count === before, "not everything is there after the node came back");
  return {
    "objects answered while it was down": there,
    "objects refused while it was down": away,
    "slowest refusal (ms)": Math.round(down.slowestMs),
    "used again after it was ready (ms)": Math.round(backMs ?? -1),
    failures: failures.count,
  };
}

async function withCopies(cluster: Cluster, victim: ClusterMember, failures: Failures, run: FaultRun) {
  const { http } = cluster;
  const spread = await filled(http, "Spread", SHARDS, run);
  const all = [await filled(http, "Single", 1, run), spread];
  const searches = new Repeated(failures, () => all.flatMap((data) => searchesOf(data)));
  const others = new Repeated(failures, () => all.flatMap((data) => othersOf(data, run.random)));
  await pause(FAILOVER_MAX_MS / 10);
  await victim.kill();
  await pause(FAILOVER_MAX_MS);
  const failoverMs = others.slowestMs;
  failures.check(failoverMs <= FAILOVER_MAX_MS, `a request waited ${failoverMs} ms until another copy took over`);
  others.slowestMs = 0;
  await checkReports(http, victim.name, failures);
  for (const data of all) await checkAll(data, failures);
  const downMs = others.slowestMs;
  failures.check(downMs <= ANSWER_MAX_MS, `while ${victim.name} is down a request takes ${downMs} ms`);
  await victim.launch();
  const syncMs = await inSync(cluster, failures, `${victim.name} is back`);
  await Promise.all([searches.stop(), others.stop()]);
  for (const data of all) await checkAll(data, failures);
  return {
    searches: searches.asked,
    "slowest search (ms)": searches.slowestMs,
    "other requests": others.asked,
    "slowest of them during the failover (ms)": failoverMs,
    "slowest of them after it (ms)": downMs,
    "in sync after it was ready (ms)": syncMs,
    failures: failures.count,
  };
}

/** What is asked, and whether an answer is right. */
type Ask = readonly [string, () => Promise<Answer>, (answer: Answer) => boolean];

function searchesOf({ http, className, objects }: KnownData): readonly Ask[] {
  const [first] = objects;
  const isFirst = ({ json }: Answer): boolean => at(json, "data", "Get", className, 0, "n") === first?.n;
  const isCounted = ({ json }: Answer): boolean => {
    return Number(at(json, "data", "Aggregate", className, 0, "meta", "count")) >= objects.length;
  };
  const near = `nearVector: {vector: [${first?.vector}]}, limit: 1`;
  const where = `where: {path: ["n"], operator: Equal, valueInt: ${first?.n}}`;
  return [
    ["nearVector", () => http.graphql(`{ Get { ${className}(${near}) { n } } }`), isFirst],
    ["filter", () => http.graphql(`{ Get { ${className}(${where}) { n } } }`), isFirst],
    ["Aggregate", () => http.graphql(`{ Aggregate { ${className} { meta { count } } } }`), isCounted],
    ["list", () => http.get(`/v1/objects?class=${className}&limit=1`), ({ status }) => status === 200],
  ];
}

/** Reads by id and writes, each to any shard; what is written is as before. */
function othersOf(data: KnownData, random: () => number): readonly Ask[] {
  const { http, className, objects } = data;
  const object = objects[Math.floor(random() * objects.length)];
  if (object === undefined) throw new Error(`${className} is empty`);
  const path = `/v1/objects/${object.id}`;
  const isDone = ({ status }: Answer): boolean => status < 300;
  const isStored = ({ status, json }: Answer): boolean => {
    return status === 200 && at(json, 0, "id") === object.id && at(json, 0, "result", "errors") === undefined;
  };
  return [
    ["GET by id", () => http.get(path), ({ json }) => at(json, "properties", "n") === object.n],
    ["GET of an unknown id", () => http.get(`/v1/objects/${randomId(random)}`), ({ status }) => status === 404],
    ["PATCH", () => http.patch(path, { class: className, properties: { n: object.n } }), isDone],
    ["PUT", () => http.put(path, data.body(object)), isDone],
    ["batch", () => http.post("/v1/batch/objects", { objects: [data.body(object)] }), isStored],
  ];
}

/** Asks again and again until it is stopped; every answer must be right. */
class Repeated {
  asked = 0;
  slowestMs = 0;
  #isStopped = false;
  readonly #running: Promise<void>;

  constructor(failures: Failures, asks: () => readonly Ask[]) {
    const run = async (): Promise<void> => {
      while (!this.#isStopped) {
        for (const [what, ask, isRight] of asks()) {
          const begun = performance.now();
          const answer = await ask();
          this.asked += 1;
          this.slowestMs = Math.max(this.slowestMs, Math.round(performance.now() - begun));
          const { status, text } = answer;
          failures.check(
            isRight(answer),
            `${what} after ${Math.round(performance.now() - begun)} ms: ${status} ${text.slice(0, 300)}`,
          );
        }
        await pause(ASKED_EVERY_MS);
      }
    };
    this.#running = run();
    // Whoever stops it hears of it.
    this.#running.catch(() => {});
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }
}

async function checkAll(data: KnownData, failures: Failures): Promise<void> {
  await data.checkIds(failures, true);
  await data.checkFilters(failures, 20);
  await data.checkVectors(failures, 100);
}

/** The errors that clients get about shards of a node that is down. */
class DownNode {
  slowestMs = 0;

  constructor(
    readonly http: HttpClient,
    readonly name: string,
    readonly failures: Failures,
  ) {}

  /** A message must name the node and a shard of the class. */
  #checkMessage(what: string, message: unknown, className: string): void {
    const text = String(message);
    const isNamed = text.includes(this.name) && /shard/i.test(text) && text.includes(className);
    this.failures.check(isNamed, `${what}: the message does not name node, class and shard: ${text}`);
  }

  async #timed(sent: Promise<Answer>): Promise<Answer> {
    const begun = performance.now();
    const answer = await sent;
    const tookMs = performance.now() - begun;
    this.slowestMs = Math.max(this.slowestMs, tookMs);
    this.failures.check(tookMs < ANSWER_MAX_MS, `an answer took ${Math.round(tookMs)} ms`);
    return answer;
  }

  async #refused(what: string, sent: Promise<Answer>, className: string): Promise<void> {
    const answer = await this.#timed(sent);
    this.failures.check(answer.status === 503, `${what}: ${answer.status} ${answer.text}, not 503`);
    this.failures.check(answer.headers.has("retry-after"), `${what}: no Retry-After`);
    this.#checkMessage(what, errorOf(answer), className);
  }

  async #refusedQuery(what: string, query: string, className: string): Promise<void> {
    const answer = await this.#timed(this.http.graphql(query));
    this.failures.check(answer.status === 200, `${what}: ${answer.status} ${answer.text}`);
    this.#checkMessage(what, graphqlErrors(answer)[0], className);
  }

  /** Of a class whose only shard is on the node. */
  async checkClass(data: KnownData): Promise<void> {
    const { className, objects } = data;
    const [first] = objects;
    if (first === undefined) throw new Error(`${className} is empty`);
    const path = `/v1/objects/${first.id}`;
    await this.#refused("GET by id", this.http.get(path), className);
    await this.#refused("PATCH", this.http.patch(path, { class: className, properties: { n: 1 } }), className);
    await this.#refused("POST", this.http.post("/v1/objects", { class: className, vector: first.vector }), className);
    await this.#refused("list", this.http.get(`/v1/objects?class=${className}`), className);
    await this.#refusedQuery("plain Get", `{ Get { ${className}(limit: 1) { n } } }`, className);
    const near = `nearVector: {vector: [${first.vector}]}`;
    await this.#refusedQuery("nearVector", `{ Get { ${className}(${near}, limit: 1) { n } } }`, className);
    await this.#refusedQuery("Aggregate", `{ Aggregate { ${className} { meta { count } } } }`, className);
  }

  /** Of a class with shards on every node. */
  async checkSpread(data: KnownData, random: () => number): Promise<{ readonly there: number; readonly away: number }> {
    const { className, objects } = data;
    const counts = { there: 0, away: 0 };
    for (const { id, n } of objects.slice(0, 200)) {
      const answer = await this.#timed(this.http.get(`/v1/objects/${id}`));
      if (answer.status === 200) {
        counts.there += 1;
        this.failures.check(at(answer.json, "properties", "n") === n, `object ${n} came back changed`);
      } else {
        counts.away += 1;
        this.failures.check(answer.status === 503, `GET of object ${n}: ${answer.status} ${answer.text}`);
        this.#checkMessage("GET by id", errorOf(answer), className);
      }
    }
    this.failures.check(Math.min(counts.there, counts.away) > 0, `${counts.there} answered, ${counts.away} not`);
    await this.#refused("GET of an unknown id", this.http.get(`/v1/objects/${randomId(random)}`), "");
    await this.#refusedQuery("nearVector over all shards", nearest(data), className);
    const batch = objects.slice(0, 100).map((one) => data.body(one));
    const answer = await this.#timed(this.http.post("/v1/batch/objects", { objects: batch }));
    this.failures.check(answer.status === 200, `batch: ${answer.status} ${answer.text.slice(0, 300)}`);
    const results = (Array.isArray(answer.json) ? answer.json : []).map((one) => at(one, "result"));
    const failed = results.flatMap((one) => at(one, "errors", "error", 0, "message") ?? []);
    this.failures.check(results.length === batch.length, `batch: ${results.length} results`);
    this.failures.check(failed.length > 0 && failed.length < batch.length, `batch: ${failed.length} items failed`);
    for (const message of failed) this.#checkMessage("batch", message, className);
    return counts;
  }
}

function nearest({ className, objects }: KnownData): string {
  return `{ Get { ${className}(nearVector: {vector: [${objects[0]?.vector}]}, limit: 5) { n } } }`;
}
