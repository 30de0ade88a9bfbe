import type { SchemaSnapshot } from "@shoal/rpc";
import { expect, test } from "vitest";
import { refuseLostData } from "./refuse-lost-data.js";

/** A class whose shards stand on `owners`, one each. */
function schemaOf(...owners: readonly string[]): SchemaSnapshot {
  const shards = owners.map((owner, at) => ({ name: `s${at}`, members: [owner] }));
  return { historyId: "h", version: 1, classes: [{ sharding: { shards } }] } as unknown as SchemaSnapshot;
}

test("a new folder is refused where shards are placed on the node, and only there", () => {
  expect(() => refuseLostData("n1", "/data", schemaOf())).not.toThrow();
  expect(() => refuseLostData("n1", "/data", schemaOf("n2", "n3"))).not.toThrow();
  expect(() => refuseLostData("n1", "/data", schemaOf("n1", "n2", "n1"))).toThrow(
    /'\/data' is a new folder, but node 'n1' has 2 shards/,
  );
});
