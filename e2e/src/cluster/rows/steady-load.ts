import type { KnownData } from "../../faults/known-data.js";
import { type Answer, at } from "../../http-client.js";

const WAITING_MAX = 2_000;

/** Requests to a class at a steady rate, whatever the answers do: reads by id, searches, filters, single and batch writes. */
export class SteadyLoad {
  sent = 0;
  slowestMs = 0;
  /** What was wrong with an answer. */
  readonly failures: string[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #waiting = new Set<Promise<void>>();
  readonly #begun = performance.now();

  constructor(
    readonly data: KnownData,
    readonly perSecond: number,
    readonly random: () => number,
  ) {
    this.#timer = setInterval(() => this.#sendDue(), 5);
  }

  #sendDue(): void {
    const due = ((performance.now() - this.#begun) * this.perSecond) / 1_000;
    while (this.sent < due) {
      this.sent += 1;
      if (this.#waiting.size >= WAITING_MAX) {
        this.failures.push(`${WAITING_MAX} requests wait for their answers`);
        continue;
      }
      const one: Promise<void> = this.#sendOne(this.sent).finally(() => this.#waiting.delete(one));
      this.#waiting.add(one);
    }
  }

  async #sendOne(number: number): Promise<void> {
    const { http, className, objects } = this.data;
    const object = objects[Math.floor(this.random() * objects.length)];
    if (object === undefined) throw new Error("there are no objects");
    const where = `where: {path: ["n"], operator: Equal, valueInt: ${object.n}}`;
    const near = `nearVector: {vector: [${object.vector}]}, limit: 1`;
    const rowIsRight = ({ json }: Answer): boolean => at(json, "data", "Get", className, 0, "n") === object.n;
    const asks: readonly [string, () => Promise<Answer>, (answer: Answer) => boolean][] = [
      ["GET", () => http.get(`/v1/objects/${object.id}`), ({ json }) => at(json, "properties", "n") === object.n],
      ["PUT", () => http.put(`/v1/objects/${object.id}`, this.data.body(object)), ({ status }) => status < 300],
      ["filter", () => http.graphql(`{ Get { ${className}(${where}) { n } } }`), rowIsRight],
      ["search", () => http.graphql(`{ Get { ${className}(${near}) { n } } }`), rowIsRight],
      [
        "batch",
        () => http.post("/v1/batch/objects", { objects: [this.data.body(object)] }),
        ({ json }) => at(json, 0, "id") === object.id && at(json, 0, "result", "errors") === undefined,
      ],
    ];
    const [name, ask, isRight] = asks[number % asks.length] ?? asks[0] ?? [];
    if (name === undefined || ask === undefined || isRight === undefined) return;
    const begun = performance.now();
    try {
      const answer = await ask();
      if (answer.status >= 300 || !isRight(answer)) {
        this.failures.push(`${name}: ${answer.status} ${answer.text.slice(-300)}`);
      }
    } catch (error) {
      this.failures.push(`${name}: ${error instanceof Error ? `${error.message} ${error.cause}` : error}`);
    }
    this.slowestMs = Math.max(this.slowestMs, performance.now() - begun);
  }

  /** Sends nothing more and waits for all answers. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#waiting);
  }
}
