import type { DataObject, ObjectId } from "@shoal/model";
import { ShoalError } from "@shoal/model";
import type { ShardAddress, ShardService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { FakeConnection } from "./fake-connection.fixture.js";
import { HeldRequests } from "./held-requests.js";
import { RetryingNode } from "./retrying-node.js";

export const shard: ShardAddress = { classId: "c", className: "Car", shardName: "s1" };
export const forever: RequestContext = { deadline: Number.POSITIVE_INFINITY };
export const id = "00000000-0000-4000-8000-000000000001" as ObjectId;
export const ROWS = { properties: true, vector: false, extras: false };
export const WAIT_MS = 15_000;

export const object = (value: string, of = id): DataObject => ({
  id: of,
  className: "Car",
  properties: { value },
  vector: undefined,
  extras: undefined,
});

export function setUp(nowMs: () => number, served: Partial<ShardService> = {}, held = new HeldRequests()) {
  const node = new RetryingNode("n1", { shardWaitMs: WAIT_MS, held, nowMs });
  const connection = new FakeConnection("n1", served);
  node.connect(connection);
  connection.become("ready");
  return { node, connection, held, service: node.service };
}

/** What a request has come to, without waiting for it. */
export function watched(request: Promise<unknown>): { outcome: string } {
  const seen = { outcome: "waits" };
  request.then(
    (value) => {
      seen.outcome = `answered ${JSON.stringify(value)}`;
    },
    (thrown: unknown) => {
      const { code, message, retryAfterSeconds } = ShoalError.from(thrown);
      seen.outcome = `${code} ${retryAfterSeconds}: ${message}`;
    },
  );
  return seen;
}
