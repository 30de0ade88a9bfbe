import type { ClassRecord } from "@shoal/rpc";
import { expect, test } from "vitest";
import { record } from "./node-world.fixture.js";
import { shardSettings } from "./shard-registry.js";

test("H17: the shards of a class on a node share its number of vectors in memory", () => {
  const one = record("a", ["s1", "s2", "s3"], "n1");
  const [first, ...others] = one.sharding.shards;
  const spread = {
    ...one,
    sharding: { ...one.sharding, shards: [...others, { name: "s1", ...first, members: ["n2"] }] },
  };
  const kept = (nodeName: string, of: ClassRecord = spread) =>
    shardSettings(of, nodeName).vectorIndexConfig.vectorCacheMaxObjects;
  expect([kept("n1"), kept("n2"), kept("n1", one)]).toEqual([500, 1_000, 334]);
  expect(shardSettings(one, "n1").properties).toEqual([]);
});
