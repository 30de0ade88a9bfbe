import { TurnCounter } from "@shoal/turn-counter";
import { expect, it } from "vitest";
import { TURN_LENGTH, writeInTurns } from "./write-in-turns.js";

const NOBODY = undefined;

it("gives up its turn after each part of a turn", async () => {
  using counter = new TurnCounter();
  const seen: number[] = [];
  // Three of them make a turn.
  const part = "é".repeat(Math.ceil(TURN_LENGTH / 3));
  function* parts() {
    for (let i = 0; i < 32; i++) {
      seen.push(counter.turns);
      yield part;
    }
  }
  const chunks = await writeInTurns(parts(), "utf8", NOBODY);
  expect(new Set(seen).size).toBe(11);
  expect(Buffer.concat(chunks).toString()).toBe(part.repeat(32));
  expect(chunks).toHaveLength(11);
});

it("puts bytes between texts, where they stand, and gives up its turn for them, too", async () => {
  using counter = new TurnCounter();
  const seen = new Set<number>();
  // Two of them make a turn.
  const bytes = Buffer.alloc(2 * Math.ceil(TURN_LENGTH / 3.8), "ö");
  function* parts() {
    for (let i = 0; i < 32; i++) {
      seen.add(counter.turns);
      yield "é,";
      yield bytes;
      if (i % 3 === 0) yield bytes.subarray(0, i * 2);
    }
    yield bytes.subarray(0, 2);
  }
  const chunks = await writeInTurns(parts(), "utf8", NOBODY);
  expect(seen.size).toBe(16);
  const expected = Array.from({ length: 32 }, (_, i) => `é,${bytes}${i % 3 === 0 ? "ö".repeat(i) : ""}`);
  expect(Buffer.concat(chunks).toString()).toBe(`${expected.join("")}ö`);
  expect(await writeInTurns([Buffer.from("ö"), "\u00c3\u00a9"], "latin1", NOBODY)).toEqual([Buffer.from("öé")]);
});

it("writes short texts at once, also none", async () => {
  expect(await writeInTurns(["a", "b"], "utf8", NOBODY)).toEqual([Buffer.from("ab")]);
  expect(await writeInTurns(["\u00c3\u00a9"], "latin1", NOBODY)).toEqual([Buffer.from("é")]);
  expect(await writeInTurns([], "utf8", NOBODY)).toEqual([Buffer.alloc(0)]);
});
