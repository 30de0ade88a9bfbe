import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { expect, test } from "vitest";
import { EmbeddedMetaStore } from "./embedded-meta-store.js";
import { describeMetaStore } from "./meta-store-suite.js";

let histories = 0;
const newHistoryId = () => `history${++histories}`;

/** Content that outlives the stores that are opened on it. */
class LastingStore extends MemoryStore {
  override async [Symbol.asyncDispose](): Promise<void> {}
}

describeMetaStore("EmbeddedMetaStore", async () => {
  const disk = new LastingStore();
  return { open: () => EmbeddedMetaStore.open(disk, newHistoryId), dispose: async () => undefined };
});

test("refuses a newer format with a message", async () => {
  const store = new MemoryStore();
  await store.write([{ type: "put", key: Buffer.from("f"), value: Buffer.from("2") }]);
  await expect(EmbeddedMetaStore.open(store, newHistoryId)).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringContaining("format 2"),
  });
});
