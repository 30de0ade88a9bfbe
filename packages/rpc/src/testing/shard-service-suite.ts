import { type ErrorCode, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import type { ShardService } from "../shard-service.js";
import { RandomValues } from "./random-values.js";
import { type ScriptedNode, scriptedNode } from "./scripted-node.js";

export interface OpenedService extends AsyncDisposable {
  readonly service: ShardService;
}

const CODES: readonly ErrorCode[] = [
  "malformed",
  "invalid",
  "unauthenticated",
  "forbidden",
  "notFound",
  "conflict",
  "tooLarge",
  "overloaded",
  "unavailable",
  "deadlineExceeded",
  "dataLoss",
  "internal",
];

const forever: RequestContext = { deadline: Number.POSITIVE_INFINITY };

/** One random call of each method, and a response that its node could give. */
function drawCalls(
  values: RandomValues,
): readonly { ask: (to: ShardService) => Promise<unknown>; response: unknown }[] {
  const shard = values.address();
  const outcomes = values.list(() =>
    values.flag()
      ? { creationTimeUnix: 5, lastUpdateTimeUnix: values.double() }
      : new ShoalError(values.oneOf(CODES), values.text(), { retryAfterSeconds: 2.5 }),
  );
  const objects = values.list(() => values.dataObject());
  const mode = values.oneOf(["create", "replace", "upsert"] as const);
  const merge = values.merge();
  const merges = values.list(() => values.merge());
  const ids = values.list(() => values.id());
  const fields = values.fields();
  const search = values.search();
  const listing = values.listing();
  const filter = values.filter();
  const aggregation = values.aggregation();
  const holders = values.list(() => values.list(() => values.address()));
  const unasked = values.list(() => ({ shard: values.address(), error: new ShoalError("unavailable", "gone") }));
  const statuses = values.list(() => ({
    address: values.address(),
    objectCount: 7,
    status: values.oneOf(["ready", "readOnly", "failed"] as const),
    reason: values.maybe(() => values.text()),
  }));
  return [
    { ask: (to) => to.putObjects(shard, objects, mode, forever), response: outcomes },
    { ask: (to) => to.mergeObject(shard, merge, forever), response: values.storedObject() },
    { ask: (to) => to.mergeObjects(shard, merges, forever), response: outcomes },
    { ask: (to) => to.deleteObject(shard, merge.id, forever), response: values.flag() },
    {
      ask: (to) => to.getObjects(shard, ids, fields, forever),
      response: values.list(() => values.maybe(() => values.storedObject())),
    },
    { ask: (to) => to.findObjects(ids, 2 ** 40, forever), response: { holders, unasked } },
    { ask: (to) => to.searchByVector(shard, search, forever), response: values.list(() => values.hit()) },
    { ask: (to) => to.listObjects(shard, listing, forever), response: values.list(() => values.storedObject()) },
    { ask: (to) => to.matchingIds(shard, filter, 1e6, forever), response: values.list(() => values.id()) },
    { ask: (to) => to.aggregate(shard, aggregation, forever), response: values.aggregate() },
    { ask: (to) => to.shardStatuses(forever), response: statuses },
    {
      ask: (to) => to.shardRecalls(forever),
      response: values.list(() => ({ address: shard, recall: values.recall() })),
    },
    { ask: (to) => to.shardCopies(forever), response: values.list(() => values.copyReport()) },
    { ask: (to) => to.shardSizes(forever), response: values.list(() => values.shardSize()) },
  ];
}

/** What every way to a node promises; `open` gives the way to the node that is given. */
export function describeShardService(name: string, open: (node: ScriptedNode) => Promise<OpenedService>): void {
  describe(`ShardService ${name}`, () => {
    const seed = Number(process.env.RPC_SEED) || 20_261_120;

    test(`carries every request and every answer as it is, seed ${seed}`, async () => {
      const values = new RandomValues(seededRandom(seed));
      const node = scriptedNode(() => undefined);
      await using way = await open(node);
      for (let round = 0; round < 60; round++) {
        for (const { ask, response } of drawCalls(values)) {
          const direct = scriptedNode(() => response);
          node.script = () => response;
          node.calls.length = 0;
          const got = await ask(way.service);
          await ask(direct);
          const [asked] = node.calls;
          const [expected] = direct.calls;
          expect(asked?.method).toBe(expected?.method);
          expect(plain(asked?.request)).toEqual(plain(expected?.request));
          expect(plain(got)).toEqual(plain(response));
        }
      }
    });

    test(`carries long batches, whose codecs yield, seed ${seed}`, async () => {
      const values = new RandomValues(seededRandom(seed));
      const node = scriptedNode(() => []);
      await using way = await open(node);
      const shard = values.address();
      const drawn = Array.from({ length: 2_000 }, () => values.dataObject());
      const objects = drawn.map((object) => ({ ...object, extras: { padding: "ß".repeat(100) } }));
      const merges = Array.from({ length: 2_000 }, () => values.merge());
      await Promise.all([
        way.service.putObjects(shard, objects, "replace", forever),
        way.service.mergeObjects(shard, merges, forever),
      ]);
      const requestOf = (method: string) => plain(node.calls.find((call) => call.method === method)?.request);
      // As text: comparing member by member takes a test seconds.
      expect(JSON.stringify(requestOf("putObjects"))).toBe(JSON.stringify(plain([shard, objects, "replace"])));
      expect(JSON.stringify(requestOf("mergeObjects"))).toBe(JSON.stringify(plain([shard, merges])));
    });

    test("fails as the node failed, with every code", async () => {
      const node = scriptedNode(() => undefined);
      await using way = await open(node);
      for (const [at, code] of CODES.entries()) {
        const options = at % 2 === 0 ? {} : { retryAfterSeconds: at + 0.5 };
        const error = new ShoalError(code, `property 'ä' is ${code}`, { ...options, cause: new Error("inside") });
        node.script = () => {
          throw error;
        };
        const thrown: unknown = await way.service.shardStatuses(forever).catch((reason) => reason);
        expect(thrown).toBeInstanceOf(ShoalError);
        const { code: gotCode, message, retryAfterSeconds } = thrown as ShoalError;
        expect({ code: gotCode, message, retryAfterSeconds }).toEqual({
          code,
          message: error.message,
          retryAfterSeconds: error.retryAfterSeconds,
        });
      }
    });

    test("hands on the deadline, the id of the request and its end", async () => {
      const node = scriptedNode(({ context: { signal } }) => whenAborted(signal));
      await using way = await open(node);
      const abort = new AbortController();
      const deadline = Date.now() + 60_000;
      const response = way.service.shardStatuses({ deadline, requestId: "abc", signal: abort.signal });
      await expect.poll(() => node.calls.length).toBe(1);
      const context = node.calls[0]?.context;
      expect(context?.requestId).toBe("abc");
      expect(Math.abs((context?.deadline ?? 0) - deadline)).toBeLessThan(5_000);
      abort.abort(new ShoalError("overloaded", "the client has left"));
      await expect(response).rejects.toThrow("the client has left");
      await expect.poll(() => context?.signal?.aborted).toBe(true);
    });

    test("has many requests under way, and each gets its own answer", async () => {
      const node = scriptedNode(async ({ request: [ids] }) => {
        await new Promise((resolve) => setTimeout(resolve, (ids as string[]).length % 7));
        return { holders: (ids as string[]).map(() => []), unasked: [] };
      });
      await using way = await open(node);
      const values = new RandomValues(seededRandom(seed));
      await Promise.all(
        Array.from({ length: 200 }, async (_, count) => {
          const ids = Array.from({ length: count }, () => values.id());
          expect((await way.service.findObjects(ids, 1, forever)).holders).toHaveLength(count);
        }),
      );
    });
  });
}

/** So that -0 differs from 0, views from arrays do not, and errors are compared by what is in them. */
function plain(value: unknown): unknown {
  if (value instanceof ShoalError) return { code: value.code, text: value.message, after: value.retryAfterSeconds };
  if (value instanceof Float32Array || value instanceof Float64Array) return [...value].map(plain);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}

function whenAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
}
