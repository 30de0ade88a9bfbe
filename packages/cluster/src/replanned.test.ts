import type { ClassDefinition } from "@shoal/model";
import type { ClassRecord, SchemaSnapshot } from "@shoal/rpc";
import { describe, expect, it } from "vitest";
import { isReplaced } from "./replanned.js";

function schemaWith(classId: string, member: string): SchemaSnapshot {
  const sharding = { shards: [{ name: "s1", members: [member] }], virtualShards: ["v"], assignments: [0] };
  const record: ClassRecord = { definition: { class: "Car" } as ClassDefinition, classId, dimensions: 2, sharding };
  return { historyId: "h", version: 1, classes: [record] };
}

describe("isReplaced", () => {
  const planned = schemaWith("c1", "n1");

  it("is a class that is gone, another one, or placed elsewhere", () => {
    expect(isReplaced("Car", planned, { ...planned, classes: [] })).toBe(true);
    expect(isReplaced("Car", planned, schemaWith("c2", "n1"))).toBe(true);
    expect(isReplaced("Car", planned, schemaWith("c1", "n2"))).toBe(true);
  });

  it("is not one that a coordinator has sent again: a write that may have been carried out would be made twice", () => {
    expect(isReplaced("Car", planned, planned)).toBe(false);
    expect(isReplaced("Car", planned, schemaWith("c1", "n1"))).toBe(false);
    expect(isReplaced("Bus", planned, schemaWith("c1", "n1"))).toBe(false);
  });
});
