import { describe, expect, it } from "vitest";
import { parseArguments } from "./arguments.js";
import { ROWS, selectRows } from "./rows.js";

describe("parseArguments", () => {
  it("reads rows and options", () => {
    const read = parseArguments(["H1", "H8-get", "--target", "http://host:8080", "--pid", "12,34", "--json", "out"]);
    expect(read).toMatchObject({ rows: ["H1", "H8-get"], json: "out", queries: null, list: false, help: false });
    expect(read.target).toEqual({ url: new URL("http://host:8080"), pids: [12, 34] });
    expect(parseArguments([])).toMatchObject({ rows: [], target: null, tokens: false });
    expect(parseArguments(["--tokens"]).tokens).toBe(true);
  });

  it.each([
    [["--pid", "1"], "--pid needs --target"],
    [["--tokens", "--target", "http://a"], "--tokens is for servers started here"],
    [["--target", "nowhere"], "'nowhere' is no http:// address"],
    [["--target", "http://a", "--pid", "1,x"], "'x' is no process id"],
    [["--queries", "easy"], "neither held-out nor perturbed"],
    [["--unknown"], "--unknown"],
  ])("refuses %j", (args, message) => {
    expect(() => parseArguments(args)).toThrow(expect.objectContaining({ code: "invalid" }));
    expect(() => parseArguments(args)).toThrow(message);
  });
});

describe("selectRows", () => {
  const ids = (names: readonly string[], ownServer = true) => selectRows(names, ownServer).map((row) => row.id);

  it("takes groups and single rows, in the order of the registry", () => {
    expect(ids(["h8-GET", "H1"])).toEqual(["H1", "H1-c1", "H8-get"]);
    expect(ids(["H1-growth"])).toEqual(["H1-10k", "H1-100k", "H1-341k"]);
    expect(ids(["H1-341k"])).toEqual(["H1-341k"]);
  });

  it("leaves out the growth rows unless they are named, and rows that need their own server", () => {
    expect(ids([])).not.toContain("H1-10k");
    expect(ids([])).toEqual(expect.arrayContaining(["H1", "H2", "H7-100d", "H10", "H12"]));
    expect(ids([], false)).not.toContain("H10");
    expect(ids(["H10"], false)).toEqual([]);
    expect(() => ids(["H99"])).toThrow("there is no row 'h99'");
  });

  it("has every id once", () => {
    expect(new Set(ROWS.map((row) => row.id)).size).toBe(ROWS.length);
  });
});
