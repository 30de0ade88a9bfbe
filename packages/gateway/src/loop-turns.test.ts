import { expect, it, vi } from "vitest";
import { COSTLY_BODY_BYTES, LONG_BODY_BYTES } from "./http/read-body.js";
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

function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
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

it("gives room at once until a turn is spent, then a turn of its own to each in order", () =>
  withTurns(async (turn) => {
    const turns = new LoopTurns();
    expect([turns.room(), turns.room()]).toEqual([undefined, undefined]);
    work(25);
    const begun = turn();
    const seen: [number, number][] = [];
    const wait = async (name: number): Promise<void> => {
      await turns.room();
      seen.push([name, turn()]);
    };
    await Promise.all([wait(0), wait(1), wait(2)]);
    expect(seen.map(([name]) => name)).toEqual([0, 1, 2]);
    expect(new Set(seen.map(([, at]) => at)).size).toBe(3);
    expect(seen[1]?.[1]).toBeGreaterThan(begun);
    // A new turn has room again.
    await turns.next();
    expect(turns.room()).toBeUndefined();
  }));

it("the server asks for room before bodies that are costly together, and not for small ones", async () => {
  const room = vi.spyOn(LoopTurns.prototype, "room");
  const server = await serveFakes();
  try {
    const send = (text: string) =>
      server.send("POST", "/v1/batch/objects", { objects: [{ class: "Car", properties: { text } }] });
    await send("small");
    expect(room).not.toHaveBeenCalled();
    await send("x".repeat(COSTLY_BODY_BYTES));
    expect(room).toHaveBeenCalledOnce();
  } finally {
    room.mockRestore();
    await server.gateway.stop();
  }
});

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
