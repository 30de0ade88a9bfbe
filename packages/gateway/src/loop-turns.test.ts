import { expect, it } from "vitest";
import { LONG_BODY_BYTES } from "./http/read-body.js";
import { LoopTurns } from "./loop-turns.js";
import { serveFakes } from "./testing/serve-fakes.js";

/** Counts turns of the event loop while `run` runs. */
async function withTurns(run: (turn: () => number) => Promise<void>): Promise<void> {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  try {
    await run(() => turn);
  } finally {
    isOver = true;
  }
}

it("gives everyone a turn of its own, in order", () =>
  withTurns(async (turn) => {
    const turns = new LoopTurns();
    const seen: [number, number][] = [];
    const wait = async (name: number): Promise<void> => {
      await turns.next();
      seen.push([name, turn()]);
    };
    await Promise.all([wait(0), wait(1), wait(2)]);
    await Promise.all([wait(3), wait(4)]);
    expect(seen.map(([name]) => name)).toEqual([0, 1, 2, 3, 4]);
    expect(new Set(seen.map(([, at]) => at)).size).toBe(5);
  }));

it("the server reads long bodies in turns of their own", () =>
  withTurns(async (turn) => {
    const server = await serveFakes();
    try {
      const seen: number[] = [];
      server.services.ingest.importObjects = async () => {
        seen.push(turn());
        return [];
      };
      const body = { objects: [{ class: "Car", properties: { text: "x".repeat(LONG_BODY_BYTES) } }] };
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => server.send("POST", "/v1/batch/objects", body)),
      );
      expect(answers.map(({ status }) => status)).toEqual(new Array(8).fill(200));
      expect(new Set(seen).size).toBe(8);
    } finally {
      await server.gateway.stop();
    }
  }));
