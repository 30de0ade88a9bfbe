import { at, type HttpClient } from "../http-client.js";
import { randomId, randomVector } from "../random-objects.js";
import type { Failures } from "./fault-row.js";

export interface KnownObject {
  readonly id: string;
  readonly n: number;
  readonly vector: readonly number[];
}

const BATCH = 100;
const PARALLEL_BATCHES = 4;
const PARALLEL_QUERIES = 16;
const PAGE = 1_000;

/** Objects that a test knows by heart, in a class of the server, with what the server has acknowledged of them. */
export class KnownData {
  readonly acknowledged = new Set<number>();
  /** Vector queries whose own object was not the first hit, but was found among more. */
  secondTries = 0;

  private constructor(
    readonly http: HttpClient,
    readonly className: string,
    readonly objects: readonly KnownObject[],
  ) {}

  static random(
    http: HttpClient,
    className: string,
    count: number,
    dimensions: number,
    random: () => number,
  ): KnownData {
    const objects = Array.from({ length: count }, (_, n) => ({
      id: randomId(random),
      n,
      vector: randomVector(random, dimensions),
    }));
    return new KnownData(http, className, objects);
  }

  async createClass(shards: number): Promise<void> {
    const answer = await this.http.post("/v1/schema", {
      class: this.className,
      properties: [
        { name: "n", dataType: ["int"] },
        { name: "text", dataType: ["text"] },
      ],
      shardingConfig: { desiredCount: shards },
    });
    if (answer.status !== 200) throw new Error(`creating ${this.className}: ${answer.status} ${answer.text}`);
  }

  body(object: KnownObject): unknown {
    const { id, n, vector } = object;
    return { class: this.className, id, properties: { n, text: `text of ${n}` }, vector };
  }

  /**
   * Imports everything that is not acknowledged yet, a few batches at a time, until it is done or a request fails.
   * Resolves to what stopped it.
   */
  async import(onProgress: (acknowledged: number) => void = () => {}): Promise<string | undefined> {
    const waiting = this.objects.filter(({ n }) => !this.acknowledged.has(n));
    let stopped: string | undefined;
    const worker = async (): Promise<void> => {
      while (stopped === undefined && waiting.length > 0) {
        const batch = waiting.splice(0, BATCH);
        const trouble = await this.#importBatch(batch).catch((error: unknown) => `connection: ${error}`);
        if (trouble === undefined) onProgress(this.acknowledged.size);
        else stopped ??= trouble;
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_BATCHES }, worker));
    return stopped;
  }

  async #importBatch(batch: readonly KnownObject[]): Promise<string | undefined> {
    const answer = await this.http.post("/v1/batch/objects", { objects: batch.map((one) => this.body(one)) });
    if (answer.status !== 200) return `${answer.status} ${answer.text.slice(0, 300)}`;
    let trouble: string | undefined;
    for (const [i, { n }] of batch.entries()) {
      const message = at(answer.json, i, "result", "errors", "error", 0, "message");
      if (message === undefined) this.acknowledged.add(n);
      else trouble ??= String(message);
    }
    return trouble;
  }

  /**
   * Walks the whole class: everything acknowledged is there exactly once and complete; nothing is there that was never
   * sent. With `exactly`, nothing else is there either. Resolves to how many were found.
   */
  async checkIds(failures: Failures, exactly = false): Promise<number> {
    const byId = new Map(this.objects.map((one) => [one.id, one]));
    const seen = new Set<number>();
    for (let after = "00000000-0000-0000-0000-000000000000"; ; ) {
      const answer = await this.http.get(
        `/v1/objects?class=${this.className}&after=${after}&limit=${PAGE}&include=vector`,
      );
      const page = at(answer.json, "objects");
      if (!Array.isArray(page)) throw new Error(`listing: ${answer.status} ${answer.text.slice(0, 300)}`);
      if (page.length === 0) break;
      for (const row of page) {
        const object = byId.get(String(at(row, "id")));
        after = String(at(row, "id"));
        if (object === undefined) {
          failures.add(`${after} is there and was never sent`);
          continue;
        }
        failures.check(!seen.has(object.n), `object ${object.n} is there twice`);
        seen.add(object.n);
        const whole = at(row, "properties", "n") === object.n && same(at(row, "vector"), object.vector);
        failures.check(whole, `object ${object.n} came back changed: ${JSON.stringify(row).slice(0, 200)}`);
      }
    }
    for (const n of this.acknowledged) failures.check(seen.has(n), `object ${n} was acknowledged and is lost`);
    if (exactly)
      failures.check(seen.size === this.acknowledged.size, `${seen.size} objects, not ${this.acknowledged.size}`);
    return seen.size;
  }

  /**
   * Ranges of numbers find everything acknowledged in them once, and nothing that was never sent; a word of each of some
   * acknowledged objects finds it alone.
   */
  async checkFilters(failures: Failures, sample = 200): Promise<void> {
    for (let from = 0; from < this.objects.length; from += PAGE) {
      const bounds = [`operator: GreaterThanEqual, valueInt: ${from}`, `operator: LessThan, valueInt: ${from + PAGE}`];
      const operands = bounds.map((bound) => `{path: ["n"], ${bound}}`);
      const found = await this.#matching(`{operator: And, operands: [${operands}]}`);
      const distinct = new Set(found);
      failures.check(distinct.size === found.length, `a filter finds objects from ${from} twice`);
      for (const n of distinct)
        failures.check(n >= from && n < from + PAGE && n < this.objects.length, `a filter from ${from} finds ${n}`);
      for (let n = from; n < from + PAGE; n++)
        failures.check(!this.acknowledged.has(n) || distinct.has(n), `object ${n} is not found by its number`);
    }
    const all = [...this.acknowledged];
    const step = Math.max(1, Math.floor(all.length / sample));
    for (const n of all.filter((_, i) => i % step === 0)) {
      const found = await this.#matching(`{path: ["text"], operator: Equal, valueText: "${n}"}`);
      failures.check(found.length === 1 && found[0] === n, `the word of object ${n} finds ${found}`);
    }
  }

  async #matching(where: string): Promise<readonly number[]> {
    const query = `{ Get { ${this.className}(where: ${where}, limit: ${PAGE + 1}) { n } } }`;
    return (await this.http.rows(this.className, query)).map(({ n }) => Number(n));
  }

  /** Every acknowledged object (or a sample) is the nearest one to its own vector, and comes once. */
  async checkVectors(failures: Failures, sample = Number.POSITIVE_INFINITY): Promise<void> {
    const all = [...this.acknowledged];
    const step = Math.max(1, Math.floor(all.length / sample));
    const waiting = all.filter((_, i) => i % step === 0);
    const worker = async (): Promise<void> => {
      for (let n = waiting.pop(); n !== undefined; n = waiting.pop()) await this.#checkVector(failures, n);
    };
    await Promise.all(Array.from({ length: PARALLEL_QUERIES }, worker));
  }

  async #checkVector(failures: Failures, n: number): Promise<void> {
    const object = this.objects[n];
    const find = async (limit: number): Promise<readonly unknown[]> => {
      const rows = await this.http.rows(
        this.className,
        `{ Get { ${this.className}(nearVector: {vector: [${object?.vector}]}, limit: ${limit}) { _additional { id } } } }`,
      );
      return rows.map((row) => at(row, "_additional", "id"));
    };
    const [first, second] = await find(2);
    failures.check(first !== second, `${first} is found twice by the vector of object ${n}`);
    if (first === object?.id) return;
    this.secondTries += 1;
    failures.check((await find(100)).includes(object?.id), `object ${n} is not found by its vector`);
  }
}

function same(a: unknown, b: readonly number[]): boolean {
  return Array.isArray(a) && a.length === b.length && a.every((one, i) => Math.fround(Number(one)) === b[i]);
}
