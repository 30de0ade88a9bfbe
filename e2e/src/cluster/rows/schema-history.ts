import { type Answer, at, type HttpClient } from "../../http-client.js";
import { type HistoryStep, linearOrder } from "../linear-order.js";

/** The properties of a class; `none` while there is no such class. */
type ClassState = readonly string[] | "none";
/** What becomes of a state; undefined when the answer does not fit it. */
type Effect = (state: ClassState) => ClassState | undefined;

const only =
  (isFit: (state: ClassState) => boolean): Effect =>
  (state) =>
    isFit(state) ? state : undefined;
const isNone = (state: ClassState): boolean => state === "none";

/**
 * What clients asked of the schema at several gateways, and were answered. A class here does not depend on others, so the
 * whole history is linear when that of each class is.
 */
export class SchemaHistory {
  readonly #steps = new Map<string, HistoryStep<ClassState>[]>();
  /** Answers that tell nothing of what became of the change. */
  unknown = 0;

  get length(): number {
    return [...this.#steps.values()].reduce((sum, steps) => sum + steps.length, 0);
  }

  create(http: HttpClient, name: string): Promise<void> {
    const ask = () => http.post("/v1/schema", { class: name, shardingConfig: { desiredCount: 1 } });
    return this.#change(name, "create", ask, (state) => (isNone(state) ? [] : undefined));
  }

  delete(http: HttpClient, name: string): Promise<void> {
    const ask = () => http.delete(`/v1/schema/${name}`);
    return this.#change(name, "delete", ask, (state) => (isNone(state) ? undefined : "none"));
  }

  addProperty(http: HttpClient, name: string, property: string): Promise<void> {
    const ask = () => http.post(`/v1/schema/${name}/properties`, { name: property, dataType: ["int"] });
    return this.#change(name, `add ${property}`, ask, (state) =>
      state === "none" || state.includes(property) ? undefined : [...state, property].sort(),
    );
  }

  async read(http: HttpClient, name: string): Promise<void> {
    const askedMs = performance.now();
    const { status, json, text } = await http.get(`/v1/schema/${name}`);
    const properties = at(json, "properties");
    const found = Array.isArray(properties) ? properties.map((one) => String(at(one, "name"))).sort() : [];
    if (status !== 200 && status !== 404) throw new Error(`GET /v1/schema/${name}: ${status} ${text}`);
    const seen: ClassState = status === 404 ? "none" : found;
    const apply = only((state) => String(state) === String(seen) && isNone(state) === isNone(seen));
    this.#add(name, { name: `read ${seen}`, askedMs, answeredMs: performance.now(), apply });
  }

  /** A change that was refused did not fit the state; one without an answer may have happened. */
  async #change(name: string, what: string, ask: () => Promise<Answer>, effect: Effect): Promise<void> {
    const askedMs = performance.now();
    const { status, text } = await ask();
    const answeredMs = performance.now();
    if (status < 300) this.#add(name, { name: what, askedMs, answeredMs, apply: effect });
    else if (status === 503) {
      this.unknown += 1;
      this.#add(name, { name: `${what}?`, askedMs, answeredMs: Number.POSITIVE_INFINITY, apply: effect });
    } else if (status < 500) {
      const apply = only((state) => effect(state) === undefined);
      this.#add(name, { name: `${what}: ${status}`, askedMs, answeredMs, apply });
    } else throw new Error(`${what} ${name}: ${status} ${text}`);
  }

  #add(className: string, step: HistoryStep<ClassState>): void {
    const steps = this.#steps.get(className) ?? [];
    this.#steps.set(className, steps);
    steps.push(step);
  }

  /** The classes whose history has no linear order, with what was asked and answered. */
  faults(): readonly string[] {
    return [...this.#steps].flatMap(([className, steps]) => {
      const keyOf = (state: ClassState): string => `${isNone(state)} ${state}`;
      if (linearOrder<ClassState>(steps, "none", keyOf) !== undefined) return [];
      const shown = steps
        .toSorted((a, b) => a.askedMs - b.askedMs)
        .map((step) => `${step.askedMs.toFixed(1)}..${step.answeredMs.toFixed(1)} ${step.name}`);
      return [`no linear order explains what was answered about ${className}: ${shown.join("; ")}`];
    });
  }
}
