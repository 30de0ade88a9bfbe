import { seededRandom } from "@shoal/seeded-random";
import { at, type HttpClient } from "../http-client.js";

const LISTS = 64;
export const WIDE_CLASS = "Wide";

/**
 * Objects with long vectors that take neither memory nor much time to make: each vector is one of a few lists, turned. Keeps
 * account of what the server has acknowledged.
 */
export class WideData {
  /** Numbers of the objects that must be there. */
  readonly stored = new Set<number>();
  readonly #lists: readonly (readonly number[])[];
  #next = 0;

  constructor(
    readonly http: HttpClient,
    readonly dimensions: number,
    random: () => number,
  ) {
    const { below } = seededRandom(Math.floor(random() * 2 ** 32));
    this.#lists = Array.from({ length: LISTS }, () =>
      Array.from({ length: dimensions }, () => (below(2_000) - 1_000) / 1_000),
    );
  }

  async createClass(): Promise<void> {
    const properties = [{ name: "n", dataType: ["int"] }];
    const answer = await this.http.post("/v1/schema", { class: WIDE_CLASS, vectorizer: "none", properties });
    if (answer.status !== 200) throw new Error(answer.text);
  }

  vectorOf(n: number): readonly number[] {
    const list = this.#lists[n % LISTS] ?? [];
    const turn = Math.floor(n / LISTS) % this.dimensions;
    return [...list.slice(turn), ...list.slice(0, turn)];
  }

  idOf(n: number): string {
    return `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
  }

  /** A new object. */
  next(): { readonly n: number; readonly body: object } {
    const n = this.#next++;
    return { n, body: { class: WIDE_CLASS, id: this.idOf(n), properties: { n }, vector: this.vectorOf(n) } };
  }

  /** Stores new objects in a batch; the message of the first one that was refused. */
  async importBatch(size: number): Promise<string | undefined> {
    const items = Array.from({ length: size }, () => this.next());
    const answer = await this.http.post("/v1/batch/objects", { objects: items.map(({ body }) => body) });
    if (answer.status !== 200) return `${answer.status} ${answer.text.slice(0, 300)}`;
    let refusal: string | undefined;
    for (const [place, { n }] of items.entries()) {
      const message = at(answer.json, place, "result", "errors", "error", 0, "message");
      if (message === undefined && at(answer.json, place, "id") === this.idOf(n)) this.stored.add(n);
      else refusal ??= String(message);
    }
    return refusal;
  }

  async countStored(): Promise<unknown> {
    const answer = await this.http.graphql(`{ Aggregate { ${WIDE_CLASS} { meta { count } } } }`);
    return at(answer.json, "data", "Aggregate", WIDE_CLASS, 0, "meta", "count") ?? answer.text.slice(0, 300);
  }

  /** What of an object is not as it was stored; "" when all is. */
  async faultOf(n: number): Promise<string> {
    const answer = await this.http.get(`/v1/objects/${this.idOf(n)}?include=vector`);
    if (!this.stored.has(n)) return answer.status === 404 ? "" : `object ${n}, which was deleted: ${answer.status}`;
    const vector = at(answer.json, "vector");
    const right =
      Array.isArray(vector) && this.vectorOf(n).every((value, place) => Math.abs(vector[place] - value) < 1e-6);
    return right && vector.length === this.dimensions
      ? ""
      : `object ${n}: ${answer.status} ${answer.text.slice(0, 100)}`;
  }

  /** Numbers of the nearest objects. */
  async nearest(n: number, limit: number): Promise<readonly unknown[]> {
    const near = `nearVector: {vector: [${this.vectorOf(n)}]}, limit: ${limit}`;
    const answer = await this.http.graphql(`{ Get { ${WIDE_CLASS}(${near}) { n } } }`);
    const rows = at(answer.json, "data", "Get", WIDE_CLASS);
    return Array.isArray(rows) ? rows.map((row) => at(row, "n")) : [answer.text.slice(0, 300)];
  }

  /** Deletes objects, several at once; how many of them were not deleted. */
  async delete(numbers: readonly number[]): Promise<number> {
    const waiting = [...numbers];
    let failed = 0;
    const worker = async (): Promise<void> => {
      for (let n = waiting.pop(); n !== undefined; n = waiting.pop()) {
        const { status } = await this.http.delete(`/v1/objects/${this.idOf(n)}`);
        if (status === 204) this.stored.delete(n);
        else failed++;
      }
    };
    await Promise.all(Array.from({ length: 16 }, worker));
    return failed;
  }
}
