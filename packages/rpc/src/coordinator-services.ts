import { type Json, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { AccessService } from "./access-service.js";
import type { CopyService } from "./copy-service.js";
import type { ExtensionService } from "./extension-service.js";
import type { Job, JobClaim, JobService } from "./job-service.js";
import type { NodeRecord, NodeService } from "./node-service.js";
import type { ChangeContext, ClassPlan, ClassRecord, ServedSchema } from "./schema-service.js";
import type { Position, WatchService } from "./snapshot-service.js";
import { applyCopies, copiesBetween, readConfiguration, readDecisions, readShardKey } from "./wire/copies-update.js";
import {
  applyEntries,
  entriesBetween,
  joinedEntries,
  readEntry,
  readPosition,
  wireEntry,
} from "./wire/entries-update.js";
import { checkedWorker, readClaimKey, readNewJob, readRangeReport } from "./wire/job-codec.js";
import { anything, nonEmpty, readJson } from "./wire/json-shape.js";
import type { Read } from "./wire/protobuf.js";
import {
  jsonBytes,
  readDefinition,
  readProperties,
  readProperty,
  readRecord,
  readSnapshot,
  recordJson,
} from "./wire/record-codec.js";
import { applyUpdate, updateBetween } from "./wire/schema-update.js";
import type { MethodDefinition } from "./wire/service-definition.js";
import {
  ACCESS,
  type CLASS_REQUEST,
  COPIES,
  EXTENSIONS,
  type JOB_RESPONSE,
  JOBS,
  NODES,
  SCHEMA,
} from "./wire/services.js";

/*
 * The one table of the coordinator's services: how the methods of each interface become calls, and calls the methods. Client,
 * server and what sends a call again act by it and name no method. A call has the name of its method with a capital.
 */

/** How a method becomes a call. Of `Args` one is the context. */
interface Method<Args, Result, Asked, Given, Response, ResponseGiven> {
  /** Whether it is sent under one change id until there is a response, and settled then. Absent: no. */
  readonly isChange?: boolean;
  /** `changeId`: "" of what is no change. */
  readonly request: (args: Args, changeId: string) => Given;
  /** Fails with `invalid` on what the service could not work with. */
  readonly args: (request: Asked, context: RequestContext) => Args;
  /** `position`: of what the watchers of the serving process know, the change in it. */
  readonly response: (result: Result, position: Position, request: Asked) => ResponseGiven;
  /** Absent: the method has none. */
  readonly result?: (response: Response, args: Args) => Result;
  /** The version that has the change: watchers of the asking process get it before its caller. Absent: `answer.position`. */
  readonly made?: (response: Response) => Position;
  /** Whether the method fails when they cannot be notified. Absent: what is made is made. */
  readonly mustNotify?: boolean;
  /** The node that the caller must be by its certificate, where there are certificates. Absent: it does not matter. */
  readonly nodeOf?: (request: Asked) => string;
}

interface HasResult {
  readonly result: unknown;
}

type MethodOf<Function, Call> = Function extends (...args: infer Args) => Promise<infer Result>
  ? Call extends MethodDefinition<infer Asked, infer Given, infer Response, infer ResponseGiven, false>
    ? Method<Args, Result, Asked, Given, Response, ResponseGiven> & (Result extends void ? object : HasResult)
    : never
  : never;

/** All but those that give what is watched. */
type MethodsOf<Service, Calls> = {
  readonly [Name in Exclude<keyof Service, "current" | "watch"> & string]: MethodOf<
    Service[Name],
    Calls[Capitalize<Name> & keyof Calls]
  >;
};

/** How watchers, who call `Watch`, get a value. */
interface Watched<Value, Update, UpdateGiven, Name> {
  /** What leads from the value that was sent before to a later one; from nothing when there was none. */
  readonly between: (before: Value | undefined, after: Value) => UpdateGiven;
  /** One update instead of several that follow each other. Absent: who does not know the latest value but one gets all of it. */
  readonly joined?: (updates: readonly Update[]) => UpdateGiven;
  /** The value after the update. `other`: what else is known of it; parts that are the same there need not be made again. */
  readonly apply: (before: Value | undefined, update: Update, other?: Value) => Value;
  /** The call that asks for the current one, of what is kept in versions. Absent: it is not. */
  readonly current?: Name;
  /** Whether the store is asked before a version of another history than the known one is taken. Absent: no. */
  readonly asksOfHistories?: boolean;
}

type WatchedOf<Service, Calls> =
  Service extends WatchService<infer Value>
    ? Calls extends { readonly Watch: MethodDefinition<infer _A, infer _G, infer Update, infer UpdateGiven, true> }
      ? Watched<Value, Update, UpdateGiven, keyof Calls & string>
      : never
    : never;

/** An update of what is kept in versions. */
export interface SnapshotUpdate {
  readonly position: Position | null;
  /** Whether it begins with nothing. */
  readonly whole: boolean;
}

type AnyCall = MethodDefinition<unknown, object, object, object, boolean>;

/** A service as client and server see it: what its values are, its own functions know. */
export interface CoordinatorService<Service> {
  readonly calls: Readonly<Record<string, AnyCall>>;
  readonly methods: readonly (Method<readonly unknown[], unknown, unknown, object, object, unknown> & {
    /** In the interface, and of the call. */
    readonly name: string;
    readonly call: string;
  })[];
  readonly watched: Watched<Position, SnapshotUpdate, object, string>;
  /** Its interface: a type and no value. */
  readonly service?: Service;
}

function described<Service, Calls>(
  calls: Calls,
  methods: MethodsOf<Service, Calls>,
  watched: WatchedOf<Service, Calls>,
): CoordinatorService<Service> {
  const named = Object.entries(methods).map(([name, method]) => {
    return { name, call: name.charAt(0).toUpperCase() + name.slice(1), ...(method as object) };
  });
  return { calls, methods: named, watched } as unknown as CoordinatorService<Service>;
}

export const SCHEMA_SERVICE = described<ServedSchema, typeof SCHEMA>(
  SCHEMA,
  {
    addClass: {
      isChange: true,
      request: ([definition, , plan], changeId) => classRequest(definition, plan, changeId),
      args: (request, context) => [readDefinition(request.definitionJson), changeOf(request, context), planOf(request)],
      response: recordResponse,
      result: recordOf,
    },
    updateClass: {
      request: ([definition, expectedVersion]) => ({ definitionJson: jsonBytes(definition), expectedVersion }),
      args: ({ definitionJson, expectedVersion }, context) => [
        readDefinition(definitionJson),
        expectedVersion,
        context,
      ],
      response: recordResponse,
      result: recordOf,
    },
    addProperty: {
      isChange: true,
      request: ([className, property], changeId) => ({ className, propertyJson: jsonBytes(property), changeId }),
      args: (request, context) => [request.className, readProperty(request.propertyJson), changeOf(request, context)],
      response: recordResponse,
      result: recordOf,
    },
    // Of a coordinator that is older than `isMade` all that is asked for counts as done: whoever watches hears of a change rather
    // once too often than not at all.
    ensureClass: {
      isChange: true,
      request: ([definition, , plan], changeId) => classRequest(definition, plan, changeId),
      args: (request, context) => [readDefinition(request.definitionJson), changeOf(request, context), planOf(request)],
      response: ({ record, isMade }, position) => ({ ...recordResponse(record, position), isMade }),
      result: (response) => ({ record: recordOf(response), isMade: response.isMade ?? true }),
    },
    ensureProperties: {
      isChange: true,
      request: ([className, classId, properties], changeId) => {
        return { className, classId, propertiesJson: jsonBytes(properties), changeId };
      },
      args: (request, context) => {
        const { className, classId, propertiesJson } = request;
        return [className, classId, readProperties(propertiesJson), changeOf(request, context)];
      },
      response: ({ record, added }, position) => {
        return { ...recordResponse(record, position), added, isMade: added.length > 0 };
      },
      result: (response, [, , properties]) => {
        const added = response.isMade === undefined ? properties.map(({ name }) => name) : response.added;
        return { record: recordOf(response), added };
      },
    },
    deleteClass: {
      isChange: true,
      request: ([{ className, classId = "" }], changeId) => ({ className, classId, changeId }),
      args: (request, context) => {
        const { className, classId } = request;
        return [{ className, classId: classId || undefined }, changeOf(request, context)];
      },
      response: (_, position) => ({ position }),
    },
    fixDimensions: {
      request: ([className, classId, dimensions]) => ({ className, classId, dimensions }),
      args: ({ className, classId, dimensions }, context) => [className, classId, dimensions, context],
      response: (dimensions, position) => ({ position, dimensions }),
      result: ({ dimensions }) => dimensions,
    },
    settle: {
      request: ([changeId]) => ({ changeId }),
      args: ({ changeId }, context) => [changeId, context],
      response: (_, position) => position,
    },
    restore: {
      request: ([snapshot]) => ({ snapshotJson: jsonBytes(snapshot) }),
      args: ({ snapshotJson }, context) => [readSnapshot(snapshotJson), context],
      response: (_, position) => position,
    },
  },
  { current: "Current", between: updateBetween, apply: applyUpdate },
);

export const NODES_SERVICE = described<NodeService, typeof NODES>(
  NODES,
  {
    register: {
      nodeOf: ({ name }) => name,
      request: ([node, , claim]) => ({ ...wireNode(node), ...claim }),
      args: (request, context) => {
        const { secret, process, replaces } = request;
        return [readNode(request), context, secret === "" ? undefined : { secret, process, replaces }];
      },
      response: (_, _position, request) => wireNode(readNode(request)),
    },
    confirmDropped: {
      nodeOf: ({ nodeName }) => nodeName,
      request: ([nodeName, classIds]) => ({ nodeName, classIds }),
      args: ({ nodeName, classIds }, context) => [nodeName, classIds, context],
      response: (_, _position, request) => request,
    },
    remove: {
      request: ([name]) => ({ name }),
      args: ({ name }, context) => [name, context],
      response: wireNode,
      result: readNode,
    },
  },
  {
    between: (_, directory) => ({ ...directory, nodes: directory.nodes.map(wireNode) }),
    apply: (_, update) => ({ ...update, nodes: update.nodes.map(readNode) }),
  },
);

export const JOBS_SERVICE = described<JobService, typeof JOBS>(
  JOBS,
  {
    create: {
      request: ([job]) => ({ json: jsonBytes(job) }),
      args: ({ json }, context) => [readNewJob(json), context],
      response: jobResponse,
      result: (response) => readResponse(response) as Job,
    },
    find: {
      request: ([id]) => ({ id }),
      args: ({ id }, context) => [id, context],
      response: jobResponse,
      result: (response) => readResponse(response) as Job | undefined,
    },
    claim: {
      request: ([worker]) => ({ worker }),
      args: ({ worker }, context) => [checkedWorker(worker), context],
      response: jobResponse,
      result: (response) => readResponse(response) as JobClaim | undefined,
    },
    report: {
      request: ([report]) => ({ json: jsonBytes(report) }),
      args: ({ json }, context) => [readRangeReport(json), context],
      response: () => jobResponse(undefined),
    },
    abort: {
      request: ([claim, error]) => ({ claimJson: jsonBytes(claim), error }),
      args: ({ claimJson, error }, context) => [readClaimKey(claimJson), error, context],
      response: () => jobResponse(undefined),
    },
  },
  { between: (_, notice) => notice, apply: (_, notice) => notice },
);

export const EXTENSIONS_SERVICE = described<ExtensionService, typeof EXTENSIONS>(
  EXTENSIONS,
  {
    put: {
      request: ([key, value]) => ({ extension: wireEntry(key, value) }),
      args: ({ extension }, context) => {
        if (extension === null) throw new ShoalError("invalid", "extension must be given");
        nonEmpty(extension.key, "extension.key");
        return [extension.key, readJson(extension.valueJson, "extension.value", anything) as Json, context];
      },
      response: (_, position) => position,
      made: (position) => position,
    },
  },
  {
    current: "List",
    between(before, after) {
      const update = entriesBetween(before, after);
      // The message has no place for what is removed.
      const { position, whole, put } = update.removed.length === 0 ? update : entriesBetween(undefined, after);
      return { position, whole, changed: put };
    },
    apply: (before, { position, whole, changed }) =>
      applyEntries(before, { position, whole, put: changed, removed: [] }, (entry) =>
        readEntry(entry, "the value of an extension"),
      ),
  },
);

const ACCESS_VALUE = "a role, an assignment or a user";

export const ACCESS_SERVICE = described<AccessService, typeof ACCESS>(
  ACCESS,
  {
    change: {
      request: ([changes, expected, , goesOnFrom = 0]) => ({
        expected: readPosition(expected),
        put: changes.flatMap(({ key, value }) => (value === undefined ? [] : wireEntry(key, value))),
        removed: changes.flatMap(({ key, value }) => (value === undefined ? key : [])),
        goesOnFrom,
      }),
      args: ({ expected, put, removed, goesOnFrom }, context) => {
        const values = put.map((entry) => ({ key: entry.key, value: readEntry(entry, ACCESS_VALUE) }));
        const changes = [...values, ...removed.map((key) => ({ key, value: undefined }))];
        return [changes, readPosition(expected), context, goesOnFrom];
      },
      response: (_, position) => position,
      made: (position) => position,
      // Who reads that a right is revoked relies on it here: what cannot be known to be in force is not answered as done.
      mustNotify: true,
    },
  },
  {
    current: "Current",
    between: entriesBetween,
    apply: (before, update) => applyEntries(before, update, (entry) => readEntry(entry, ACCESS_VALUE)),
    // A coordinator that is behind may still have rights that were revoked since.
    asksOfHistories: true,
  },
);

export const COPIES_SERVICE = described<CopyService, typeof COPIES>(
  COPIES,
  {
    propose: {
      nodeOf: ({ node }) => node,
      request: ([node, proposals]) => ({ node, proposals: proposals.map(({ shard, next }) => wireEntry(shard, next)) }),
      args: ({ node, proposals }, context) => [
        node,
        proposals.map(({ key, valueJson }) => ({ shard: readShardKey(key), next: readConfiguration(valueJson) })),
        context,
      ],
      response: (decisions) => ({
        decisions: decisions.map(({ isAccepted, current }) => ({
          isAccepted,
          currentJson: current && jsonBytes(current),
        })),
      }),
      result: ({ decisions }, [, proposals]) => readDecisions(decisions, proposals),
    },
    restore: {
      request: ([known]) => ({ configurations: known.map(([shard, one]) => wireEntry(shard, one)) }),
      args: ({ configurations }, context) => [
        configurations.map(({ key, valueJson }) => [readShardKey(key), readConfiguration(valueJson)] as const),
        context,
      ],
      response: (_, position) => position,
    },
  },
  {
    current: "Current",
    between: copiesBetween,
    joined: joinedEntries,
    apply: applyCopies,
    // A coordinator that is behind may still take a copy for the primary that is none any more.
    asksOfHistories: true,
  },
);

function classRequest(definition: object, { plannedVersion = 0, lostNodes = [] }: ClassPlan = {}, changeId: string) {
  return { definitionJson: jsonBytes(definition), plannedVersion, lostNodes, changeId };
}

function planOf({ plannedVersion, lostNodes }: Read<typeof CLASS_REQUEST>): ClassPlan {
  return { lostNodes, ...(plannedVersion !== 0 && { plannedVersion }) };
}

function changeOf({ changeId }: { readonly changeId: string }, context: RequestContext): ChangeContext {
  return changeId === "" ? context : { ...context, changeId };
}

function recordResponse(record: ClassRecord, position: Position) {
  return { position, recordJson: recordJson(record) };
}

function recordOf(response: { readonly recordJson: Buffer }): ClassRecord {
  return readRecord(response.recordJson);
}

/** A node as others see it: without its claim. */
function wireNode({ name, address = "", shoalVersion, gitHash }: NodeRecord) {
  return { name, address, shoalVersion, gitHash };
}

function readNode({ name, address, shoalVersion, gitHash }: ReturnType<typeof wireNode>): NodeRecord {
  return { name, address: address || undefined, shoalVersion, gitHash };
}

function jobResponse(value: object | undefined): { readonly json: Buffer } {
  return { json: value === undefined ? Buffer.alloc(0) : jsonBytes(value) };
}

function readResponse({ json }: Read<typeof JOB_RESPONSE>): unknown {
  return json.length === 0 ? undefined : JSON.parse(json.toString());
}
