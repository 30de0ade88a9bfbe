import type { Failures, FaultRow } from "../../faults/fault-row.js";
import { KnownData } from "../../faults/known-data.js";
import { type Answer, at, errorOf, graphqlErrors, type HttpClient } from "../../http-client.js";
import { randomId } from "../../random-objects.js";
import { classOnEach, nodeReports } from "../shard-owners.js";
import { msUntil, rowOnCluster } from "./row-on-cluster.js";

const DIMENSIONS = 16;
const SHARDS = 6;
/** One more attempt within a second, and the time that a busy machine takes. */
const ANSWER_MAX_MS = 3_000;
const RECOVERY_MAX_MS = 20_000;

/**
 * R4: a storage node is killed and stays away. What needs its shards fails soon, naming node and shard; everything else is
 * answered as before. When the node is back, everything is.
 */
export const R4_CLUSTER: FaultRow = {
  id: "R4",
  on: "cluster",
  title: "a storage node is down",
  needs: ["etcd"],
  run: (run) =>
    rowOnCluster({}, run, async (cluster, failures) => {
      const { size, random, say } = run;
      const { http, storageNodes } = cluster;
      const count = size === "short" ? 300 : 3_000;
      const filled = async (className: string, shards: number): Promise<KnownData> => {
        const data = KnownData.random(http, className, count, DIMENSIONS, random);
        await data.createClass(shards);
        const trouble = await data.import();
        if (trouble !== undefined) throw new Error(trouble);
        return data;
      };
      const singles = new Map<string, KnownData>();
      const names = storageNodes.map(({ name }) => name);
      const classOf = await classOnEach(http, names, async (name) => void singles.set(name, await filled(name, 1)));
      const spread = await filled("Spread", SHARDS);
      const victim = storageNodes[Math.floor(random() * storageNodes.length)];
      if (victim === undefined) throw new Error("there is no storage node");
      await victim.kill();
      const down = new DownNode(http, victim.name, failures);

      const reports = await nodeReports(http);
      for (const { name, status, shards } of reports) {
        const wanted = name === victim.name ? "UNAVAILABLE" : "HEALTHY";
        failures.check(status === wanted, `/v1/nodes says ${name} is ${status}, not ${wanted}`);
        failures.check(name !== victim.name || shards.length === 0, `/v1/nodes lists shards of ${name}`);
      }
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
    }),
};

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
