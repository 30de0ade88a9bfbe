import { setImmediate as iteration } from "node:timers/promises";
import { ShoalError } from "@shoal/model";
import type { SchemaSnapshot } from "@shoal/rpc";
import { describe, expect, test } from "vitest";
import { DropConfirmation } from "./drop-confirmation.js";

function schemaWith(...classIds: string[]): SchemaSnapshot {
  const drops = classIds.map((classId) => ({ classId, className: "Car", holders: ["n1", "n2"] }));
  return { historyId: "h", version: 1, classes: [], drops };
}

class Steps {
  readonly log: string[] = [];
  keptFails = 0;
  confirmFails = 0;
  endWrites: () => void = () => undefined;
  readonly confirmation = new DropConfirmation({
    nodeName: "n1",
    nodes: {
      confirmDropped: async (nodeName, classIds) => {
        if (this.confirmFails-- > 0) throw new ShoalError("unavailable", "no coordinator");
        this.log.push(`${nodeName} confirms ${classIds.join()}`);
      },
    },
    kept: async () => {
      if (this.keptFails-- > 0) throw new ShoalError("unavailable", "the disk is full");
      this.log.push("kept");
    },
    nowMs: () => 0,
  });
  readonly refused = async (classId: string): Promise<void> => {
    await new Promise<void>((resolve) => {
      this.endWrites = resolve;
    });
    this.log.push(`${classId} is refused`);
  };
}

describe("F1: a storage node confirms the drop of a class", () => {
  test("after the schema is kept and the last write has ended, once", async () => {
    const steps = new Steps();
    using confirmation = steps.confirmation;
    confirmation.follow(schemaWith("c1"), steps.refused);
    await iteration();
    expect(steps.log).toEqual(["kept"]);
    confirmation.follow(schemaWith("c1"), steps.refused);
    steps.endWrites();
    await iteration();
    expect(steps.log).toEqual(["kept", "c1 is refused", "n1 confirms c1"]);
  });

  test("again in another history: the coordinator's store may have been put back", async () => {
    const steps = new Steps();
    using confirmation = steps.confirmation;
    for (const historyId of ["h", "h", "later"]) {
      confirmation.follow({ ...schemaWith("c1"), historyId }, async () => undefined);
      await iteration();
    }
    expect(steps.log).toEqual(["kept", "n1 confirms c1", "kept", "n1 confirms c1"]);
  });

  test("again when the schema could not be kept, or no coordinator was there", async () => {
    const steps = new Steps();
    using confirmation = steps.confirmation;
    steps.keptFails = 1;
    steps.confirmFails = 1;
    confirmation.follow(schemaWith("c1"), async () => undefined);
    await expect.poll(() => steps.log, { timeout: 5_000 }).toEqual(["kept", "kept", "n1 confirms c1"]);
  });

  test("of its own classes only, and no longer than it is pending", async () => {
    const steps = new Steps();
    using confirmation = steps.confirmation;
    const others = { classId: "c2", className: "Bus", holders: ["n2"] };
    confirmation.follow({ ...schemaWith(), drops: [others] }, async () => undefined);
    steps.confirmFails = 1;
    confirmation.follow(schemaWith("c1"), async () => undefined);
    await iteration();
    confirmation.follow(schemaWith(), async () => undefined);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(steps.log).toEqual(["kept"]);
  });
});
