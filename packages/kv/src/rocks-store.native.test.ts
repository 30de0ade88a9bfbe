import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeKeyValueStore } from "./key-value-store-suite.js";
import { openRocksStore } from "./open-rocks-store.js";
import { RocksConnection } from "./rocks-connection.js";

const small = { cacheBytes: 1 << 20, writeBufferBytes: 1 << 20, ballastBytes: 0 };

describeKeyValueStore("RocksStore", async () => {
  const folder = await mkdtemp(join(tmpdir(), "shoal-kv-"));
  const reopen = async () => {
    await under.store[Symbol.asyncDispose]();
    under.store = await openRocksStore({ folder, ...small });
  };
  const under = {
    store: await openRocksStore({ folder, ...small }),
    reopen,
    damage: async (key: Uint8Array, change: (envelope: Uint8Array) => void) => {
      await under.store[Symbol.asyncDispose]();
      const connection = await RocksConnection.open(folder, 0, {
        createIfMissing: false,
        compression: true,
        cacheSize: 1 << 20,
        writeBufferSize: 1 << 20,
        blockSize: 4096,
        maxOpenFiles: 10,
      });
      const [envelope] = await connection.getMany([key]);
      if (envelope === undefined) throw new Error("no record to damage");
      change(envelope);
      const batch = connection.startBatch();
      batch.put(key, envelope);
      await batch.write(true);
      await connection.close();
      under.store = await openRocksStore({ folder, ...small });
    },
    dispose: async () => {
      await under.store[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
  return under;
});
