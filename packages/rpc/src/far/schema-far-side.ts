import type { ServerWritableStream } from "@grpc/grpc-js";
import type { RequestContext } from "@shoal/runtime";
import type { ClassRequest__Output } from "../generated/shoal/ClassRequest.js";
import type { RecordAnswer } from "../generated/shoal/RecordAnswer.js";
import type { SchemaHandlers } from "../generated/shoal/Schema.js";
import type { SchemaPosition, SchemaPosition__Output } from "../generated/shoal/SchemaPosition.js";
import type { SchemaUpdate } from "../generated/shoal/SchemaUpdate.js";
import type {
  ChangeContext,
  ClassPlan,
  ClassRecord,
  SchemaService,
  SchemaSnapshot,
  ServedSchema,
} from "../schema-service.js";
import { readDefinition, readProperties, readProperty, readSnapshot, recordJson } from "../wire/record-codec.js";
import { updateBetween } from "../wire/schema-update.js";
import { sendLatest } from "./send-latest.js";
import { unaryHandler } from "./unary-handler.js";

/** `SchemaService` behind gRPC, until `stopped`. */
export function schemaHandlers(service: ServedSchema, stopped: AbortSignal): SchemaHandlers {
  let latest: SchemaSnapshot | undefined;
  const subscription = service.watch((snapshot) => {
    latest = snapshot;
  });
  stopped.addEventListener("abort", () => subscription[Symbol.dispose](), { once: true });
  // Changes are answered after the listeners of this process have been called.
  const position = (): SchemaPosition => ({ historyId: latest?.historyId ?? "", version: latest?.version ?? 0 });
  const answer = (record: ClassRecord): RecordAnswer => ({ position: position(), recordJson: recordJson(record) });
  return {
    Current: unaryHandler(async (known, context) => {
      const snapshot = await service.current(context);
      return updateBetween(isAt(known, snapshot) ? snapshot : undefined, snapshot);
    }),
    Watch: (call) => watch(service, call, stopped),
    AddClass: unaryHandler(async (request, context) => {
      const definition = readDefinition(request.definitionJson);
      return answer(await service.addClass(definition, changeOf(request.changeId, context), planOf(request)));
    }),
    UpdateClass: unaryHandler(async ({ definitionJson, expectedVersion }, context) =>
      answer(await service.updateClass(readDefinition(definitionJson), expectedVersion, context)),
    ),
    AddProperty: unaryHandler(async ({ className, propertyJson, changeId }, context) =>
      answer(await service.addProperty(className, readProperty(propertyJson), changeOf(changeId, context))),
    ),
    EnsureClass: unaryHandler(async (request, context) => {
      const definition = readDefinition(request.definitionJson);
      const change = changeOf(request.changeId, context);
      const { record, isMade } = await service.ensureClass(definition, change, planOf(request));
      return { ...answer(record), isMade };
    }),
    EnsureProperties: unaryHandler(async ({ className, classId, propertiesJson, changeId }, context) => {
      const properties = readProperties(propertiesJson);
      const change = changeOf(changeId, context);
      const { record, added } = await service.ensureProperties(className, classId, properties, change);
      return { ...answer(record), added: [...added], isMade: added.length > 0 };
    }),
    DeleteClass: unaryHandler(async ({ className, classId, changeId }, context) => {
      const incarnation = { className, classId: classId === "" ? undefined : classId };
      await service.deleteClass(incarnation, changeOf(changeId, context));
      return { position: position() };
    }),
    Settle: unaryHandler(async ({ changeId }, context) => {
      await service.settle(changeId, context);
      return position();
    }),
    Restore: unaryHandler(async ({ snapshotJson }, context) => {
      await service.restore(readSnapshot(snapshotJson), context);
      return position();
    }),
    FixDimensions: unaryHandler(async ({ className, classId, dimensions }, context) => {
      const fixed = await service.fixDimensions(className, classId, dimensions, context);
      return { position: position(), dimensions: fixed };
    }),
  };
}

function planOf({ plannedVersion, lostNodes }: ClassRequest__Output): ClassPlan {
  return { lostNodes, ...(plannedVersion !== 0 && { plannedVersion }) };
}

function changeOf(changeId: string, context: RequestContext): ChangeContext {
  return changeId === "" ? context : { ...context, changeId };
}

type WatchCall = ServerWritableStream<SchemaPosition__Output, SchemaUpdate>;

function watch(service: SchemaService, call: WatchCall, stopped: AbortSignal): void {
  let sent: SchemaSnapshot | undefined;
  sendLatest<SchemaSnapshot>(call, stopped, {
    watch: (listener) => service.watch(listener),
    write: (snapshot) => {
      // Who knows this very schema already is only told that it is the latest.
      const before = sent ?? (isAt(call.request, snapshot) ? snapshot : undefined);
      sent = snapshot;
      return call.write(updateBetween(before, snapshot));
    },
  });
}

function isAt({ historyId, version }: SchemaPosition__Output, snapshot: SchemaSnapshot): boolean {
  return historyId === snapshot.historyId && version === snapshot.version;
}
