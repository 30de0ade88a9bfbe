import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ClassDefinition, PropertyDefinition } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { deliveryOf } from "../delivery.js";
import type { RecordAnswer__Output } from "../generated/shoal/RecordAnswer.js";
import type { SchemaPosition, SchemaPosition__Output } from "../generated/shoal/SchemaPosition.js";
import type { SchemaUpdate__Output } from "../generated/shoal/SchemaUpdate.js";
import {
  type ClassIncarnation,
  type ClassPlan,
  type ClassRecord,
  type EnsuredClass,
  type EnsuredProperties,
  goesOnFrom,
  type SchemaService,
  type SchemaSnapshot,
} from "../schema-service.js";
import { WatchedValue } from "../watched-value.js";
import { SCHEMA } from "../wire/load-protos.js";
import { jsonBytes, readRecord } from "../wire/record-codec.js";
import { applyUpdate } from "../wire/schema-update.js";
import type { CoordinatorCalls } from "./coordinator-calls.js";
import { FollowedStream } from "./followed-stream.js";

/** Changes that wait for storage nodes, or for each other, are answered within ten seconds. */
const SLOW_CHANGE_MS = 12_000;

/** So long is a change repeated that a coordinator was lost with; one that restarts is back by then. */
const REPEAT_MS_MAX = 5_000;
const REPEAT_PAUSE_MS = 200;

/** A change is on its way to the watchers of this process: so long it is waited for before it is asked for. */
const CHANGE_WAIT_MS = 100;

/** The near side of `SchemaService`. Follows the schema from its beginning on, so that changes are small. */
export class CoordinatorSchema implements SchemaService, Disposable {
  readonly #calls: CoordinatorCalls;
  readonly #lostNodes: () => readonly string[];
  readonly #stream: FollowedStream<SchemaUpdate__Output>;
  readonly #snapshot = new WatchedValue<SchemaSnapshot | undefined>(undefined);
  /** What the updates of the stream that is open continue. */
  #streamed: SchemaSnapshot | undefined;

  /** `onReachable`: whether a coordinator tells of changes right now. `lostNodes`: those that this process does not reach. */
  constructor(
    calls: CoordinatorCalls,
    onReachable: (isReachable: boolean) => void,
    lostNodes: () => readonly string[],
  ) {
    this.#lostNodes = lostNodes;
    this.#calls = calls;
    this.#stream = new FollowedStream<SchemaUpdate__Output>({
      open: () => {
        this.#streamed = this.#snapshot.known;
        return calls.listen(SCHEMA.Watch, positionOf(this.#streamed));
      },
      onItem: (update) => {
        this.#streamed = applyUpdate(this.#streamed, update);
        onReachable(true);
        this.#accept(this.#streamed);
      },
      onEnd: () => onReachable(false),
    });
  }

  async current(context: RequestContext): Promise<SchemaSnapshot> {
    const before = this.#snapshot.known;
    const update = await this.#calls.ask(SCHEMA.Current, positionOf(before), context, true);
    // Nothing was said of it: it is the same one.
    if (isAt(before, update.position) && before !== undefined && !update.whole) return before;
    const snapshot = applyUpdate(before, update);
    this.#accept(snapshot);
    return snapshot;
  }

  watch(listener: (snapshot: SchemaSnapshot) => void): Disposable {
    return this.#snapshot.watch(listener);
  }

  async addClass(definition: ClassDefinition, context: RequestContext, plan?: ClassPlan): Promise<ClassRecord> {
    const planned = this.#planned(definition, plan);
    return this.#settled(context, async (changeId) => {
      const request = { ...planned, changeId };
      return this.#changed(await this.#calls.ask(SCHEMA.AddClass, request, context, false, SLOW_CHANGE_MS), context);
    });
  }

  async updateClass(
    definition: ClassDefinition,
    expectedVersion: number,
    context: RequestContext,
  ): Promise<ClassRecord> {
    const request = { definitionJson: jsonBytes(definition), expectedVersion };
    return this.#changed(await this.#calls.ask(SCHEMA.UpdateClass, request, context, false), context);
  }

  async addProperty(className: string, property: PropertyDefinition, context: RequestContext): Promise<ClassRecord> {
    const propertyJson = jsonBytes(property);
    return this.#settled(context, async (changeId) => {
      const request = { className, propertyJson, changeId };
      return this.#changed(await this.#calls.ask(SCHEMA.AddProperty, request, context, false, SLOW_CHANGE_MS), context);
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
      const answer = await this.#calls.ask(SCHEMA.EnsureClass, request, context, true, SLOW_CHANGE_MS);
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
      const answer = await this.#calls.ask(SCHEMA.EnsureProperties, request, context, true);
      const added = answer.isMade === undefined ? properties.map(({ name }) => name) : answer.added;
      return { record: await this.#changed(answer, context), added };
    });
  }

  async deleteClass({ className, classId = "" }: ClassIncarnation, context: RequestContext): Promise<void> {
    await this.#settled(context, async (changeId) => {
      const request = { className, classId, changeId };
      const { position } = await this.#calls.ask(SCHEMA.DeleteClass, request, context, false, SLOW_CHANGE_MS);
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
    const answer = await this.#calls.ask(SCHEMA.FixDimensions, request, context, true);
    await this.#reach(answer.position, context);
    return answer.dimensions;
  }

  async restore(snapshot: SchemaSnapshot, context: RequestContext): Promise<void> {
    await this.#calls.ask(SCHEMA.Restore, { snapshotJson: jsonBytes(snapshot) }, context, false, SLOW_CHANGE_MS);
  }

  [Symbol.dispose](): void {
    this.#stream[Symbol.dispose]();
    this.#snapshot.forgetListeners();
  }

  #planned(definition: ClassDefinition, { plannedVersion = 0, lostNodes = this.#lostNodes() }: ClassPlan = {}) {
    return { definitionJson: jsonBytes(definition), plannedVersion, lostNodes: [...lostNodes] };
  }

  /**
   * Sends a change under one id until there is an answer to it: when a coordinator was lost on the way, for a while. Then it is
   * settled, so that the same change by somebody else is another one.
   */
  async #settled<Answer>(context: RequestContext, change: (changeId: string) => Promise<Answer>): Promise<Answer> {
    const changeId = randomUUID();
    const answer = await this.#answered(context, () => change(changeId));
    // What is not settled is taken for a change that nobody has the answer of: no harm is done.
    await this.#calls.ask(SCHEMA.Settle, { changeId }, context, true).catch(() => undefined);
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

  async #changed({ position, recordJson }: RecordAnswer__Output, context: RequestContext): Promise<ClassRecord> {
    await this.#reach(position, context);
    return readRecord(recordJson);
  }

  /** The listeners of this process know a change before its caller does. */
  async #reach(position: SchemaPosition__Output | null, context: RequestContext): Promise<void> {
    if (this.#hasReached(position)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        subscription[Symbol.dispose]();
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(done, CHANGE_WAIT_MS);
      const subscription = this.watch(() => {
        if (this.#hasReached(position)) queueMicrotask(done);
      });
    });
    // The change is made, whether somebody can tell of it now or not.
    if (!this.#hasReached(position)) await this.current(context).catch(() => undefined);
  }

  #hasReached(position: SchemaPosition__Output | null): boolean {
    const { known } = this.#snapshot;
    return position !== null && known !== undefined && goesOnFrom(known, position);
  }

  /** Versions of a history only grow: what comes late is passed over. */
  #accept(snapshot: SchemaSnapshot): void {
    const { known } = this.#snapshot;
    if (known === undefined || !goesOnFrom(known, snapshot)) this.#snapshot.set(snapshot);
  }
}

function positionOf(snapshot: SchemaSnapshot | undefined): SchemaPosition {
  return { historyId: snapshot?.historyId ?? "", version: snapshot?.version ?? 0 };
}

function isAt(snapshot: SchemaSnapshot | undefined, position: SchemaPosition__Output | null): boolean {
  return snapshot?.historyId === position?.historyId && snapshot?.version === position?.version;
}
