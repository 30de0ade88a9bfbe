import { describe, expect, it } from "vitest";
import { parseArguments } from "./arguments.js";

describe("npm run simulate --", () => {
  it("takes its options", () => {
    const nothing = { seeds: 1_000, first: undefined, wrong: undefined, isReplay: false, isHelp: false };
    expect(parseArguments([])).toEqual(nothing);
    const wrong = "reads without a lease";
    expect(parseArguments(["--seeds", "20", "--seed", "7", "--wrong", wrong, "--replay"])).toEqual({
      ...nothing,
      seeds: 20,
      first: 7,
      wrong,
      isReplay: true,
    });
    expect(parseArguments(["--help"]).isHelp).toBe(true);
  });

  it.each([
    [["--seed", "abc"], "--seed 'abc' is no whole number from 0 to 4294967295"],
    [["--seed", "4294967296"], "--seed '4294967296' is no whole number from 0 to 4294967295"],
    [["--seeds", "0"], "--seeds '0' is no whole number from 1 to 2147483648"],
    [["--seed", "4294967290", "--seeds", "7"], "--seeds '7' is no whole number from 1 to 6"],
    [["--wrong", "nonsense"], "--wrong 'nonsense' is no variant"],
    [["--sed", "3"], "Unknown option '--sed'"],
    [["3"], "Unexpected argument '3'"],
  ])("refuses %j", (args, message) => {
    expect(() => parseArguments(args)).toThrow(message);
  });
});
