import type { ServerResponse } from "node:http";
import { setImmediate as iteration } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { endResponse } from "./send-response.js";

describe("endResponse", () => {
  it("ends the responses of an iteration together, in order, and those of the next one after them", async () => {
    const ended: unknown[][] = [];
    const response = (name: string) =>
      ({ end: (...given: unknown[]) => void ended.push([name, ...given]) }) as unknown as ServerResponse;
    endResponse(response("first"), "a", "latin1");
    await Promise.resolve();
    endResponse(response("second"), Buffer.from("b"), "utf8");
    expect(ended).toEqual([]);
    await iteration();
    expect(ended).toEqual([
      ["first", "a", "latin1"],
      ["second", Buffer.from("b"), "utf8"],
    ]);
    endResponse(response("third"), "c", "utf8");
    expect(ended).toHaveLength(2);
    await iteration();
    expect(ended).toHaveLength(3);
  });
});
