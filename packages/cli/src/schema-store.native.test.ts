import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DiskBallast } from "@shoal/kv";
import type { SchemaSnapshot } from "@shoal/rpc";
import { ResourceScope, silentLogger } from "@shoal/service-runtime";
import { expect, it } from "vitest";
import { KNOWN_SCHEMA } from "./json-file-memory.js";
import type { ProcessOptions } from "./process-options.js";
import { schemaStoreMemory } from "./schema-store.js";

it("S2: keeps a schema in store and file, and makes its JSON once", async () => {
  const folder = await mkdtemp(join(tmpdir(), "shoal-schema-"));
  try {
    await using scope = new ResourceScope();
    const options = { logger: silentLogger } as unknown as ProcessOptions;
    const memory = await schemaStoreMemory(options, folder, new DiskBallast(join(folder, "BALLAST"), 1024), scope);
    let made = 0;
    const content = { version: 1, classes: [] };
    const toJSON = () => {
      made++;
      return content;
    };
    const snapshot = { toJSON } as unknown as SchemaSnapshot;
    await memory.store(snapshot);
    expect(made).toBe(1);
    expect(await memory.load()).toEqual(content);
    expect(JSON.parse(await readFile(join(folder, KNOWN_SCHEMA), "utf8"))).toEqual(content);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
