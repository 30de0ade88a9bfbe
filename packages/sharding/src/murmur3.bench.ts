import { randomBytes, randomUUID } from "node:crypto";
import { type ObjectId, parseObjectId } from "@shoal/model";
import { bench, describe } from "vitest";
import { createShardingState } from "./create-sharding-state.js";
import { Ring } from "./ring.js";

const ids = Array.from({ length: 1_000 }, () => parseObjectId(randomUUID()) as ObjectId);
const plan = { desiredCount: 4, virtualPerPhysical: 128, nodeNames: ["n"] };
const ring = new Ring(createShardingState(plan, randomBytes));

describe("routing of 1,000 ids", () => {
  bench("ring, 512 virtual shards", () => {
    let sum = 0;
    for (const id of ids) sum += ring.shardIndexOf(id);
    if (sum < 0) throw new Error();
  });
});
