import { describeKeyValueStore } from "./key-value-store-suite.js";
import { MemoryStore } from "./testing/memory-store.js";

describeKeyValueStore("MemoryStore", async () => {
  const store = new MemoryStore();
  return {
    store,
    damage: async (key, change) => store.damage(key, change),
    dispose: () => store[Symbol.asyncDispose](),
  };
});
