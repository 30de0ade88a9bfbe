import type { RequestContext } from "@shoal/runtime";
import type { ServedNode } from "../far/shard-far-side.js";
import type { ShardService } from "../shard-service.js";

/** What a node was asked: the name of the method and its arguments without the context. */
export interface NodeCall {
  readonly method: keyof ShardService;
  readonly request: readonly unknown[];
  readonly context: RequestContext;
}

/** What a scripted node says to a call. */
export type NodeScript = (call: NodeCall) => unknown;

/** A node that answers every call as its script says, and tells what it was asked. */
export interface ScriptedNode extends ServedNode {
  schemaVersion: number;
  readonly calls: NodeCall[];
  /** Versions of the schema that it was asked to catch up with. */
  readonly caughtUp: number[];
  script: NodeScript;
}

const METHODS = [
  "putObjects",
  "mergeObject",
  "mergeObjects",
  "deleteObject",
  "getObjects",
  "findObjects",
  "searchByVector",
  "listObjects",
  "matchingIds",
  "aggregate",
  "shardStatuses",
  "shardRecalls",
] as const satisfies readonly (keyof ShardService)[];

export function scriptedNode(script: NodeScript, name = "node-1"): ScriptedNode {
  const node = {
    name,
    schemaVersion: 0,
    calls: [] as NodeCall[],
    caughtUp: [] as number[],
    script,
    atSchemaVersion(version: number) {
      if (version <= node.schemaVersion) return undefined;
      node.caughtUp.push(version);
      return Promise.resolve().then(() => {
        node.schemaVersion = version;
      });
    },
  };
  const methods = METHODS.map((method) => [
    method,
    async (...args: unknown[]) => {
      const call: NodeCall = { method, request: args.slice(0, -1), context: args.at(-1) as RequestContext };
      node.calls.push(call);
      return node.script(call);
    },
  ]);
  return Object.assign(node, Object.fromEntries(methods) as unknown as ShardService);
}
