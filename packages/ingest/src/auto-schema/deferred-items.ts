import { normaliseClassName, type ObjectId, ShoalError } from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { CheckedObject } from "../check-object.js";
import type { IngestParts } from "../ingest-parts.js";
import type { ObjectInput } from "../ingest-service.js";
import { admitObjects, concernsAutoSchema, isRefusal } from "./admit-objects.js";
import type { Refusal } from "./class-plan.js";

/** An item of a batch that auto-schema decides about. */
export interface DeferredItem {
  /** Its place in the batch. */
  readonly index: number;
  readonly id: ObjectId;
  readonly input: ObjectInput;
}

/**
 * The items of a batch that bring something new, put off until all others are checked, so that one schema change serves
 * them all.
 */
export class DeferredItems {
  readonly #items: DeferredItem[] = [];
  /** Classes that items were put off for: for these it pays to look before an item is checked in vain. */
  readonly #classes = new Set<string | undefined>();

  constructor(private readonly parts: IngestParts) {}

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Puts off an item that ordinary checks can only refuse, as far as that can be told at a glance. */
  foresees(item: DeferredItem): boolean {
    const { className } = item.input;
    if (this.parts.autoSchema === undefined || className === undefined) return false;
    if (this.parts.schema.classRecord(className) !== undefined && !this.#classes.has(className)) return false;
    return this.takesOver(item);
  }

  /** Puts off an item that ordinary checks have refused, if it brings something new. */
  takesOver(item: DeferredItem): boolean {
    if (this.parts.autoSchema === undefined || !concernsAutoSchema(item.input, this.parts)) return false;
    this.#classes.add(item.input.className);
    this.#items.push(item);
    return true;
  }

  /**
   * Decides about all of them: what goes to its shard, and why the others do not; the observer hears of each that lacks a right.
   * `lengthOf` as in `admitObjects`.
   */
  async decide(
    lengthOf: (record: ClassRecord) => number | undefined,
    context: RequestContext,
  ): Promise<readonly { readonly item: DeferredItem; readonly outcome: CheckedObject | ShoalError }[]> {
    const { autoSchema } = this.parts;
    if (autoSchema === undefined || this.isEmpty) return [];
    const inputs = this.#items.map(({ input }) => input);
    const outcomes = await admitObjects(this.parts, autoSchema, inputs, lengthOf, context);
    return this.#items.map((item, at) => {
      const outcome: CheckedObject | Refusal = outcomes[at] ?? { fault: "class", error: NO_OUTCOME };
      if (!isRefusal(outcome)) return { item, outcome };
      const { error, lacked } = outcome;
      if (lacked !== undefined) context.observer?.denied(lacked, normaliseClassName(item.input.className ?? ""));
      return { item, outcome: error };
    });
  }
}

const NO_OUTCOME = new ShoalError("internal", "auto-schema gave no outcome");
