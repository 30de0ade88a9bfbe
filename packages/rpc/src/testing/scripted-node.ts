import type { RequestContext } from "@shoal/runtime";
import type { ServedNode } from "../server/shard-server.js";
import { shardServiceBy } from "../shard-methods.js";

/** What a node was asked: the name of the method and its arguments without the context. */
export interface NodeCall {
  readonly method: string;
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
  const methods = shardServiceBy(async ({ name: method }, request, context) => {
    const call: NodeCall = { method, request, context };
    node.calls.push(call);
    return node.script(call);
  });
  return Object.assign(node, methods);
}
