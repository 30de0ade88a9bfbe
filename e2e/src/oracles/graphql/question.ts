import { shownFloat32 } from "./value-rules.js";
import type { World } from "./world.js";

export interface QuestionBody {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** One GraphQL query, and what the answer must be by the world. */
export interface Question {
  readonly body: QuestionBody;
  /** What the answer to it must be, for people; throws `Undecided` when that hangs on a rounding. */
  expected(world: World): unknown;
  /** What is wrong with the answer; undefined when nothing is. Throws `Undecided` as above. */
  fault(world: World, answer: unknown): string | undefined;
  /** Questions with less in them. */
  smaller(): readonly Question[];
}

/** A number that is right within a tolerance. */
export class About {
  constructor(
    readonly value: number,
    readonly tolerance: number,
  ) {}

  toJSON(): string {
    return `${this.value} ± ${this.tolerance}`;
  }
}

/** As {@link About}, and the shortest text of a float32. */
export class AboutFloat32 extends About {}

/** Any of these will do. */
export class OneOf {
  constructor(readonly values: readonly unknown[]) {}

  toJSON(): string {
    return `one of ${JSON.stringify(this.values)}`;
  }
}

/** A list in any order. */
export class AnyOrder {
  constructor(readonly values: readonly unknown[]) {}

  toJSON(): unknown {
    return { "in any order": this.values };
  }
}

/** Where the answer departs from what is expected, and how; undefined when it does not. */
export function difference(expected: unknown, got: unknown, place = ""): string | undefined {
  const told = `${place || "the answer"} is ${JSON.stringify(got)}, not ${JSON.stringify(expected)}`;
  if (expected instanceof About) {
    const isFit = !(expected instanceof AboutFloat32) || got === shownFloat32(Number(got));
    return typeof got === "number" && isFit && Math.abs(got - expected.value) <= expected.tolerance ? undefined : told;
  }
  if (expected instanceof OneOf)
    return expected.values.some((one) => difference(one, got) === undefined) ? undefined : told;
  if (expected instanceof AnyOrder) {
    const sorted = (list: readonly unknown[]): readonly string[] => list.map((one) => JSON.stringify(one)).sort();
    return Array.isArray(got) && sorted(got).join() === sorted(expected.values).join() ? undefined : told;
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(got) || got.length !== expected.length) return told;
    return firstOf(expected.map((one, at) => difference(one, got[at], `${place}[${at}]`)));
  }
  if (typeof expected !== "object" || expected === null) return Object.is(expected, got) ? undefined : told;
  if (typeof got !== "object" || got === null || Array.isArray(got)) return told;
  const keys = new Set([...Object.keys(expected), ...Object.keys(got)]);
  const member = (value: object, key: string): unknown => (value as Record<string, unknown>)[key];
  return firstOf([...keys].map((key) => difference(member(expected, key), member(got, key), `${place}.${key}`)));
}

function firstOf(found: readonly (string | undefined)[]): string | undefined {
  return found.find((one) => one !== undefined);
}
