import type { Failures } from "../../faults/fault-row.js";
import { type Answer, at, type HttpClient } from "../../http-client.js";
import { randomId, randomVector } from "../../random-objects.js";
import { pause } from "./row-on-cluster.js";

const DIMENSIONS = 4;
const SHARDS = 6;
const BATCH = 20;
const SINGLE = 5;
const REPEAT_PAUSE_MS = 20;
const REPEATED_MS_MAX = 60_000;
const COUNTED_MS_MAX = 10_000;

/** How an answer to a change of the schema came about. */
export interface Changed {
  readonly answer: Answer;
  /** How it was answered before. */
  readonly errors: readonly string[];
}

export function classBody(className: string, shards = SHARDS): unknown {
  return {
    class: className,
    vectorizer: "none",
    properties: [{ name: "n", dataType: ["int"] }],
    shardingConfig: { desiredCount: shards },
  };
}

/** As a client does it: a request that is answered 503, or not at all, is sent again until another answer comes. */
export async function untilAnswered(send: () => Promise<Answer>): Promise<Changed> {
  const until = performance.now() + REPEATED_MS_MAX;
  const errors: string[] = [];
  for (;;) {
    const answer = await send().catch((thrown: unknown) => `no answer: ${thrown}`);
    if (typeof answer !== "string" && answer.status < 500) return { answer, errors };
    errors.push(typeof answer === "string" ? answer : `${answer.status} ${answer.text}`);
    if (performance.now() > until) {
      throw new Error(
        `${errors.length} requests in ${REPEATED_MS_MAX} ms were answered with an error: ${errors.at(-1)}`,
      );
    }
    await pause(REPEAT_PAUSE_MS);
  }
}

export type Changer = Pick<HttpClient, "post" | "delete">;

/** A class that is deleted and created again through one gateway and filled through another, with what was acknowledged since. */
export class ReMadeClass {
  readonly #acknowledged = new Set<string>();
  /** Requests that were answered with an error, or not at all. */
  errors = 0;
  /** How the latest changes were answered. */
  #changes: string[] = [];

  constructor(
    readonly className: string,
    readonly random: () => number,
  ) {}

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  async make(maker: Changer, failures: Failures): Promise<void> {
    await this.#change("POST", () => maker.post("/v1/schema", classBody(this.className)), failures);
  }

  /** Whatever was acknowledged before need not be there any more. */
  async makeAnew(maker: Changer, failures: Failures): Promise<void> {
    await this.#change("DELETE", () => maker.delete(`/v1/schema/${this.className}`), failures);
    this.#acknowledged.clear();
    await this.make(maker, failures);
  }

  /** Nobody else changes the class: a client that repeats what was answered with an error ends with success. */
  async #change(verb: string, send: () => Promise<Answer>, failures: Failures): Promise<void> {
    const { answer, errors } = await untilAnswered(send);
    this.errors += errors.length;
    const kinds = [...new Set(errors)].map(
      (error) => `${error.slice(0, 200)} (${errors.filter((one) => one === error).length} times)`,
    );
    const text = `${verb} ${this.className}: ${[...kinds, `${answer.status} ${answer.text.slice(0, 100)}`].join(", then ")}`;
    this.#changes = [...this.#changes, text].slice(-2);
    failures.check(answer.status === 200, text);
  }

  /** One batch, and objects one by one. What is refused is sent again. */
  async fill(filler: Changer): Promise<void> {
    const object = () => ({
      class: this.className,
      id: randomId(this.random),
      properties: { n: 1 },
      vector: randomVector(this.random, DIMENSIONS),
    });
    let left = Array.from({ length: BATCH }, object);
    const until = performance.now() + REPEATED_MS_MAX;
    while (left.length > 0) {
      const { status, json, text } = await sent(() => filler.post("/v1/batch/objects", { objects: left }));
      const isDone = (_: unknown, item: number): boolean => {
        return status === 200 && at(json, item, "result", "errors", "error", 0, "message") === undefined;
      };
      for (const { id } of left.filter(isDone)) this.#acknowledged.add(id);
      left = left.filter((one, item) => !isDone(one, item));
      if (performance.now() > until)
        throw new Error(`a batch is refused for ${REPEATED_MS_MAX} ms: ${text.slice(0, 500)}`);
      if (left.length > 0) await pause(REPEAT_PAUSE_MS);
    }
    for (const one of Array.from({ length: SINGLE }, object)) {
      while ((await this.#post(filler, one)) === false) {
        if (performance.now() > until) throw new Error(`an object is refused for ${REPEATED_MS_MAX} ms`);
        await pause(REPEAT_PAUSE_MS);
      }
    }
  }

  /** False when it is to be sent again. */
  async #post(filler: Changer, object: { readonly id: string }): Promise<boolean> {
    const answer = await sent(() => filler.post("/v1/objects", object));
    if (answer.status === 200) this.#acknowledged.add(object.id);
    // What was answered with an error may be there.
    return answer.status === 200 || /already exists/.test(answer.text);
  }

  /** How much of what was acknowledged a gateway does not give by its id; its count is at least as large. */
  async check(name: string, gateway: HttpClient, failures: Failures): Promise<number> {
    let lost = 0;
    for (const id of this.#acknowledged) {
      const { answer } = await untilAnswered(() => gateway.get(`/v1/objects/${id}`));
      if (answer.status !== 200) lost += 1;
    }
    const acknowledged = this.#acknowledged.size;
    failures.check(lost === 0, `${lost} of ${acknowledged} acknowledged objects are lost, as ${name} says`);
    const { text, count } = await this.#count(gateway);
    const found = count === undefined ? text.slice(0, 200) : `${count} objects`;
    const isEnough = count !== undefined && count >= acknowledged;
    failures.check(isEnough, `${name} counts ${found}, ${acknowledged} were acknowledged; ${this.#changes.join("; ")}`);
    return lost;
  }

  async #count(gateway: HttpClient): Promise<{ readonly count: number | undefined; readonly text: string }> {
    const until = performance.now() + COUNTED_MS_MAX;
    for (;;) {
      const { json, text } = await gateway.graphql(`{ Aggregate { ${this.className} { meta { count } } } }`);
      const count = at(json, "data", "Aggregate", this.className, 0, "meta", "count");
      if (typeof count === "number") return { count, text };
      if (performance.now() > until) return { count: undefined, text };
      await pause(REPEAT_PAUSE_MS);
    }
  }
}

/** No answer counts as one with an error. */
function sent(send: () => Promise<Answer>): Promise<Pick<Answer, "status" | "json" | "text">> {
  return send().catch((thrown: unknown) => ({ status: 503, json: undefined, text: String(thrown) }));
}
