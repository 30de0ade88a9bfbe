import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ClassDefinition, PropertyDefinition } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { deliveryOf } from "../delivery.js";
import type {
  ClassIncarnation,
  ClassPlan,
  ClassRecord,
  EnsuredClass,
  EnsuredProperties,
  SchemaPosition,
  SchemaService,
  SchemaSnapshot,
} from "../schema-service.js";
import type { Read } from "../wire/protobuf.js";
import { jsonBytes, readRecord } from "../wire/record-codec.js";
import { applyUpdate } from "../wire/schema-update.js";
import { type RECORD_ANSWER, SCHEMA, type SCHEMA_UPDATE } from "../wire/services.js";
import type { CoordinatorCalls } from "./coordinator-calls.js";
import { FollowedSnapshot } from "./followed-snapshot.js";

/** So long is a change repeated that a coordinator was lost with; one that restarts is back by then. */
const REPEAT_MS_MAX = 5_000;
const REPEAT_PAUSE_MS = 200;

/** The client of `SchemaService`. */
export class CoordinatorSchema implements SchemaService, Disposable {
  readonly #calls: CoordinatorCalls;
  readonly #lostNodes: () => readonly string[];
  readonly #followed: FollowedSnapshot<SchemaSnapshot, Read<typeof SCHEMA_UPDATE>>;

  /** `onReachable`: whether a coordinator tells of changes right now. `lostNodes`: those that this process does not reach. */
  constructor(
    calls: CoordinatorCalls,
    onReachable: (isReachable: boolean) => void,
    lostNodes: () => readonly string[],
  ) {
    this.#lostNodes = lostNodes;
    this.#calls = calls;
    this.#followed = new FollowedSnapshot(calls, {
      watch: SCHEMA.Watch,
      current: SCHEMA.Current,
      apply: applyUpdate,
      onReachable,
    });
  }

  current(context: RequestContext): Promise<SchemaSnapshot> {
    return this.#followed.current(context);
  }

  watch(listener: (snapshot: SchemaSnapshot) => void): Disposable {
    return this.#followed.watch(listener);
  }

  async addClass(definition: ClassDefinition, context: RequestContext, plan?: ClassPlan): Promise<ClassRecord> {
    const planned = this.#planned(definition, plan);
    return this.#settled(context, async (changeId) => {
      const request = { ...planned, changeId };
      return this.#changed(await this.#calls.ask(SCHEMA.AddClass, request, context), context);
    });
  }

  async updateClass(
    definition: ClassDefinition,
    expectedVersion: number,
    context: RequestContext,
  ): Promise<ClassRecord> {
    const request = { definitionJson: jsonBytes(definition), expectedVersion };
    return this.#changed(await this.#calls.ask(SCHEMA.UpdateClass, request, context), context);
  }

  async addProperty(className: string, property: PropertyDefinition, context: RequestContext): Promise<ClassRecord> {
    const propertyJson = jsonBytes(property);
    return this.#settled(context, async (changeId) => {
      const request = { className, propertyJson, changeId };
      return this.#changed(await this.#calls.ask(SCHEMA.AddProperty, request, context), context);
    });
  }

  /**
   * Of a coordinator that is older than `isMade` all that is asked for counts as done: whoever watches hears of a change rather
   * once too often than not at all.
   */
  async ensureClass(definition: ClassDefinition, context: RequestContext, plan?: ClassPlan): Promise<EnsuredClass> {
    const planned = this.#planned(definition, plan);
    return this.#settled(context, async (changeId) => {
      const request = { ...planned, changeId };
      const answer = await this.#calls.ask(SCHEMA.EnsureClass, request, context);
      return { record: await this.#changed(answer, context), isMade: answer.isMade ?? true };
    });
  }

  async ensureProperties(
    className: string,
    classId: string,
    properties: readonly PropertyDefinition[],
    context: RequestContext,
  ): Promise<EnsuredProperties> {
    const propertiesJson = jsonBytes(properties);
    return this.#settled(context, async (changeId) => {
      const request = { className, classId, propertiesJson, changeId };
      const answer = await this.#calls.ask(SCHEMA.EnsureProperties, request, context);
      const added = answer.isMade === undefined ? properties.map(({ name }) => name) : answer.added;
      return { record: await this.#changed(answer, context), added };
    });
  }

  async deleteClass({ className, classId = "" }: ClassIncarnation, context: RequestContext): Promise<void> {
    await this.#settled(context, async (changeId) => {
      const request = { className, classId, changeId };
      const { position } = await this.#calls.ask(SCHEMA.DeleteClass, request, context);
      await this.#reach(position, context);
    });
  }

  async fixDimensions(
    className: string,
    classId: string,
    dimensions: number,
    context: RequestContext,
  ): Promise<number> {
    const request = { className, classId, dimensions };
    const answer = await this.#calls.ask(SCHEMA.FixDimensions, request, context);
    await this.#reach(answer.position, context);
    return answer.dimensions;
  }

  async restore(snapshot: SchemaSnapshot, context: RequestContext): Promise<void> {
    await this.#calls.ask(SCHEMA.Restore, { snapshotJson: jsonBytes(snapshot) }, context);
  }

  [Symbol.dispose](): void {
    this.#followed[Symbol.dispose]();
  }

  #planned(definition: ClassDefinition, { plannedVersion = 0, lostNodes = this.#lostNodes() }: ClassPlan = {}) {
    return { definitionJson: jsonBytes(definition), plannedVersion, lostNodes };
  }

  /**
   * Sends a change under one id until there is an answer to it: when a coordinator was lost on the way, for a while. Then it is
   * settled, so that the same change by somebody else is another one.
   */
  async #settled<Answer>(context: RequestContext, change: (changeId: string) => Promise<Answer>): Promise<Answer> {
    const changeId = randomUUID();
    const answer = await this.#answered(context, () => change(changeId));
    // What is not settled is taken for a change that nobody has the answer of: no harm is done.
    await this.#calls.ask(SCHEMA.Settle, { changeId }, context).catch(() => undefined);
    return answer;
  }

  async #answered<Answer>(context: RequestContext, change: () => Promise<Answer>): Promise<Answer> {
    const giveUpMs = Math.min(context.deadline, this.#calls.nowMs() + REPEAT_MS_MAX);
    for (let lost: unknown; ; ) {
      try {
        return await change();
      } catch (thrown) {
        const delivery = deliveryOf(thrown);
        if (delivery === "unknown") lost ??= thrown;
        if (delivery === undefined || lost === undefined) throw thrown;
        if (this.#calls.nowMs() >= giveUpMs) throw lost;
      }
      await sleep(REPEAT_PAUSE_MS);
      context.signal?.throwIfAborted();
    }
  }

  async #changed({ position, recordJson }: Read<typeof RECORD_ANSWER>, context: RequestContext): Promise<ClassRecord> {
    await this.#reach(position, context);
    return readRecord(recordJson);
  }

  /** The change is made, whether somebody can tell of it now or not. */
  async #reach(position: SchemaPosition | null, context: RequestContext): Promise<void> {
    await this.#followed.reach(position, context).catch(() => undefined);
  }
}
