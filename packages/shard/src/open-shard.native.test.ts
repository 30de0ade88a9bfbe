import { MemoryStore } from "@shoal/kv/testing/memory-store";
import type { ShoalError } from "@shoal/model";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { encodeFormatRecord } from "./format-record.js";
import { FORMAT_KEY, rowKey } from "./key-layout.js";
import type { Shard } from "./shard.js";
import { book, idOf, ShardUnderTest } from "./testing/shard-under-test-suite.js";

let store: MemoryStore;
let under: ShardUnderTest;
beforeEach(async () => {
  store = new MemoryStore();
  under = await ShardUnderTest.create(store);
});
afterEach(() => under[Symbol.asyncDispose]());

describe("what a shard refuses to open", () => {
  const refusal = (promise: Promise<Shard>) =>
    promise.then(
      () => undefined,
      (error: ShoalError) => error,
    );

  it("a newer one is refused by name", async () => {
    const newer = Buffer.from(encodeFormatRecord(undefined));
    newer.writeUInt32LE(4, 8);
    await store.write([{ type: "put", key: FORMAT_KEY, value: newer }]);
    const error = await refusal(under.open());
    expect(error?.code).toBe("unavailable");
    expect(error?.message).toMatch(/shard 's1' of class 'Book' was written in data format 4 by a newer release/);
  });

  it("data without a format record is not taken for a shard", async () => {
    await store.write([{ type: "put", key: rowKey(idOf(1)), value: Uint8Array.of(1) }]);
    expect((await refusal(under.open()))?.code).toBe("dataLoss");
  });

  it("other dimensions and a stale epoch are refused", async () => {
    const shard = await under.open({ epoch: 5 });
    await shard.putObjects([book(idOf(1), [1, 1])], "create");
    expect((await refusal(under.open({ dimensions: 3, epoch: 5 })))?.code).toBe("conflict");
    expect((await refusal(under.open({ dimensions: 2, epoch: 4 })))?.code).toBe("conflict");
    expect((await under.open({ epoch: 6 })).dimensions).toBe(2);
  });

  it("dimensions that the class has are checked before the first vector", async () => {
    const shard = await under.open({ dimensions: 3 });
    const [refused] = await shard.putObjects([book(idOf(1), [1, 2])], "create");
    expect(refused).toMatchObject({ code: "invalid", message: expect.stringContaining("2 vs 3") });
  });
});
