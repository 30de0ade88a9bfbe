import type { RequestContext } from "@shoal/runtime";
import type { ChangeContext, ClassPlan, ClassRecord, ServedSchema } from "../schema-service.js";
import type { Read } from "../wire/protobuf.js";
import { readDefinition, readProperties, readProperty, readSnapshot, recordJson } from "../wire/record-codec.js";
import { updateBetween } from "../wire/schema-update.js";
import type { Handlers } from "../wire/service-definition.js";
import type { CLASS_REQUEST, SCHEMA } from "../wire/services.js";
import { ServedSnapshots } from "./served-snapshots.js";
import { unaryHandler } from "./unary-handler.js";

/** `SchemaService` behind gRPC, until `stopped`. */
export function schemaHandlers(service: ServedSchema, stopped: AbortSignal): Handlers<typeof SCHEMA> {
  const served = new ServedSnapshots({ watch: (listener) => service.watch(listener), between: updateBetween }, stopped);
  const answer = (record: ClassRecord) => ({ position: served.position, recordJson: recordJson(record) });
  return {
    Current: unaryHandler(async (known, context) => served.update(known, await service.current(context))),
    Watch: (call) => served.send(call),
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
      return { ...answer(record), added, isMade: added.length > 0 };
    }),
    DeleteClass: unaryHandler(async ({ className, classId, changeId }, context) => {
      const incarnation = { className, classId: classId === "" ? undefined : classId };
      await service.deleteClass(incarnation, changeOf(changeId, context));
      return { position: served.position };
    }),
    Settle: unaryHandler(async ({ changeId }, context) => {
      await service.settle(changeId, context);
      return served.position;
    }),
    Restore: unaryHandler(async ({ snapshotJson }, context) => {
      await service.restore(readSnapshot(snapshotJson), context);
      return served.position;
    }),
    FixDimensions: unaryHandler(async ({ className, classId, dimensions }, context) => {
      const fixed = await service.fixDimensions(className, classId, dimensions, context);
      return { position: served.position, dimensions: fixed };
    }),
  };
}

function planOf({ plannedVersion, lostNodes }: Read<typeof CLASS_REQUEST>): ClassPlan {
  return { lostNodes, ...(plannedVersion !== 0 && { plannedVersion }) };
}

function changeOf(changeId: string, context: RequestContext): ChangeContext {
  return changeId === "" ? context : { ...context, changeId };
}
