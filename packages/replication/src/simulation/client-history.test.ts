import { describe, expect, it } from "vitest";
import { type ClientOperation, isLinear, staleSearch } from "./client-history.js";

const NEVER = Number.POSITIVE_INFINITY;

function operation(kind: ClientOperation["kind"], value: string, calledAt: number, endedAt: number): ClientOperation {
  return { kind, value, calledAt, endedAt };
}

describe("isLinear", () => {
  it("takes what one order explains", () => {
    expect(isLinear([])).toBe(true);
    expect(isLinear([operation("write", "a", 0, 1), operation("read", "a", 2, 3)])).toBe(true);
    // Two writes at once: reads decide which was first.
    const both = [operation("write", "a", 0, 10), operation("write", "b", 0, 10)];
    expect(isLinear([...both, operation("read", "a", 1, 2), operation("read", "b", 3, 4)])).toBe(true);
    expect(
      isLinear([operation("write", "a", 0, NEVER), operation("read", "", 5, 6), operation("read", "a", 7, 8)]),
    ).toBe(true);
    expect(isLinear([{ ...operation("create", "b", 3, 4), isRefused: true }, operation("write", "a", 0, 1)])).toBe(
      true,
    );
  });

  it.each([
    [
      "a read of what was overwritten",
      [operation("write", "a", 0, 1), operation("write", "b", 2, 3), operation("read", "a", 4, 5)],
    ],
    ["a lost write", [operation("write", "a", 0, 1), operation("read", "", 2, 3)]],
    [
      "a value that comes and goes",
      [operation("write", "a", 0, NEVER), operation("read", "a", 2, 3), operation("read", "", 4, 5)],
    ],
    ["two creates that both succeed", [operation("create", "a", 0, 1), operation("create", "b", 2, 3)]],
    ["a refused create where nothing was", [{ ...operation("create", "a", 0, 1), isRefused: true }]],
    ["a read from the future", [operation("read", "a", 0, 1), operation("write", "a", 2, 3)]],
  ])("finds %s", (_, history) => {
    expect(isLinear(history)).toBe(false);
  });
});

describe("staleSearch", () => {
  it("lets searches see what is under way, also what is never acknowledged", () => {
    expect(
      staleSearch([operation("write", "a", 0, NEVER), operation("search", "a", 1, 2), operation("search", "", 3, 4)]),
    ).toBeUndefined();
  });

  it("finds a search that saw what an acknowledged write had overwritten", () => {
    const history = [operation("write", "a", 0, 1), operation("write", "b", 2, 3), operation("search", "a", 4, 5)];
    expect(staleSearch(history)).toBe(history[2]);
    expect(staleSearch([operation("write", "a", 0, 1), operation("search", "", 2, 3)])).toBeDefined();
  });
});
