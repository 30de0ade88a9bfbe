import { ShoalError } from "@shoal/model";
import { DamagedBaseRow, type Shard } from "@shoal/shard";
import { describe, expect, it } from "vitest";
import type { NodeMemory } from "./node-memory.js";
import { replicatedShard } from "./replicated-shard.js";
import type { ShardReplica } from "./shard-replica.js";

const MOVED = new ShoalError("moved", "others have it");

/** All writes end with `error`. */
function writer(error: ShoalError): Shard {
  const outcomes = async () => ["written", error];
  const failure = async () => {
    throw error;
  };
  const shard = { putObjects: outcomes, mergeObjects: outcomes, mergeObject: failure, deleteObject: failure };
  const replica = { refusal: () => MOVED } as unknown as ShardReplica;
  const memory = { heldReason: () => undefined } as unknown as NodeMemory;
  return replicatedShard(shard as unknown as Shard, replica, memory, () => undefined);
}

async function endsOf(shard: Shard): Promise<readonly unknown[]> {
  const failed = (thrown: unknown) => thrown;
  return [
    await shard.putObjects([], "create"),
    await shard.mergeObjects([]),
    await shard.mergeObject({} as never).catch(failed),
    await shard.deleteObject("" as never).catch(failed),
  ];
}

describe("a write to a copy", () => {
  it("is for others when the row that it is based on is damaged", async () => {
    const outcomes = ["written", MOVED];
    expect(await endsOf(writer(new DamagedBaseRow("damaged")))).toEqual([outcomes, outcomes, MOVED, MOVED]);
  });

  it("fails for what is to be written, which would fail on every copy", async () => {
    const error = new ShoalError("dataLoss", "a stored value cannot be read");
    expect(await endsOf(writer(error))).toEqual([["written", error], ["written", error], error, error]);
  });
});
