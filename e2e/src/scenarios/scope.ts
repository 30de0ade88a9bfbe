import { randomUUID } from "node:crypto";

/** `${id}`, `${id2}`, `${idCar}`: a random uuid that stays the same in its scenario. */
const RANDOM_ID = /^id([0-9A-Z].*)?$/;
const PIPES: Readonly<Record<string, (text: string) => string>> = {
  upper: (text) => text.toUpperCase(),
  plain: (text) => text.replaceAll("-", ""),
};

/** The variables that a scenario's steps may name. */
export class Scope {
  #values = new Map<string, unknown>();
  #own: Readonly<Record<string, unknown>> = {};

  constructor(
    values: Readonly<Record<string, unknown>>,
    readonly outer?: Scope,
  ) {
    for (const [name, value] of Object.entries(values)) this.#values.set(name, this.fill(value));
  }

  /** The same scope, seen by one request, which has some variables of its own. */
  of(own: Readonly<Record<string, unknown>>): Scope {
    const view = new Scope({}, this.outer);
    view.#values = this.#values;
    view.#own = own;
    return view;
  }

  set(name: string, value: unknown): void {
    this.#values.set(name, value);
  }

  get(name: string): unknown {
    if (name === "uuid") return randomUUID();
    const known = this.#find(name);
    if (known !== undefined) return known.value;
    if (!RANDOM_ID.test(name)) throw new Error(`nothing has set the variable \${${name}}`);
    const id = randomUUID();
    this.#values.set(name, id);
    return id;
  }

  #find(name: string): { readonly value: unknown } | undefined {
    if (Object.hasOwn(this.#own, name)) return { value: this.#own[name] };
    if (this.#values.has(name)) return { value: this.#values.get(name) };
    return this.outer === undefined ? undefined : this.outer.#find(name);
  }

  /** `value` with its variables filled in, keys included; a text that is one variable becomes its value. */
  fill(value: unknown): unknown {
    if (typeof value === "string") {
      const whole = /^\$\{(\w+)\}$/.exec(value)?.[1];
      return whole === undefined ? this.text(value) : this.get(whole);
    }
    if (Array.isArray(value)) return value.map((one) => this.fill(one));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [this.text(key), this.fill(one)]));
  }

  /** A text with its variables filled in; those that are no texts as JSON. */
  text(value: string): string {
    return value.replace(/\$\{(\w+)(?:\|(\w+))?\}/g, (_, name: string, pipe: string | undefined) => {
      const found = this.get(name);
      const text = typeof found === "string" ? found : JSON.stringify(found);
      if (pipe === undefined) return text;
      const piped = PIPES[pipe];
      if (piped === undefined) throw new Error(`\${${name}|${pipe}}: there are ${Object.keys(PIPES).join(" and ")}`);
      return piped(text);
    });
  }
}
