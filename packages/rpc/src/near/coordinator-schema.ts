import type { ClassDefinition, PropertyDefinition } from "@shoal/model";
import type { RecordAnswer__Output } from "../generated/shoal/RecordAnswer.js";
import type { SchemaPosition, SchemaPosition__Output } from "../generated/shoal/SchemaPosition.js";
import type { SchemaUpdate__Output } from "../generated/shoal/SchemaUpdate.js";
import type { RequestContext } from "../request-context.js";
import { type ClassRecord, goesOnFrom, type SchemaService, type SchemaSnapshot } from "../schema-service.js";
import { WatchedValue } from "../watched-value.js";
import { SCHEMA } from "../wire/load-protos.js";
import { jsonBytes, readRecord } from "../wire/record-codec.js";
import { applyUpdate } from "../wire/schema-update.js";
import type { CoordinatorCalls } from "./coordinator-calls.js";
import { FollowedStream } from "./followed-stream.js";

/** A change is on its way to the watchers of this process: so long it is waited for before it is asked for. */
const CHANGE_WAIT_MS = 100;

/** The near side of `SchemaService`. Follows the schema from its beginning on, so that changes are small. */
export class CoordinatorSchema implements SchemaService, Disposable {
  readonly #calls: CoordinatorCalls;
  readonly #stream: FollowedStream<SchemaUpdate__Output>;
  readonly #snapshot = new WatchedValue<SchemaSnapshot | undefined>(undefined);
  /** What the updates of the stream that is open continue. */
  #streamed: SchemaSnapshot | undefined;

  /** `onReachable`: whether a coordinator tells of changes right now. */
  constructor(calls: CoordinatorCalls, onReachable: (isReachable: boolean) => void) {
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

  async addClass(definition: ClassDefinition, context: RequestContext): Promise<ClassRecord> {
    const request = { definitionJson: jsonBytes(definition) };
    return this.#changed(await this.#calls.ask(SCHEMA.AddClass, request, context, false), context);
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
    const request = { className, propertyJson: jsonBytes(property) };
    return this.#changed(await this.#calls.ask(SCHEMA.AddProperty, request, context, false), context);
  }

  async ensureClass(definition: ClassDefinition, context: RequestContext): Promise<ClassRecord> {
    const request = { definitionJson: jsonBytes(definition) };
    return this.#changed(await this.#calls.ask(SCHEMA.EnsureClass, request, context, true), context);
  }

  async ensureProperties(
    className: string,
    classId: string,
    properties: readonly PropertyDefinition[],
    context: RequestContext,
  ): Promise<ClassRecord> {
    const request = { className, classId, propertiesJson: jsonBytes(properties) };
    return this.#changed(await this.#calls.ask(SCHEMA.EnsureProperties, request, context, true), context);
  }

  async deleteClass(className: string, context: RequestContext): Promise<void> {
    const { position } = await this.#calls.ask(SCHEMA.DeleteClass, { className }, context, false);
    await this.#reach(position, context);
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

  [Symbol.dispose](): void {
    this.#stream[Symbol.dispose]();
    this.#snapshot.forgetListeners();
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
