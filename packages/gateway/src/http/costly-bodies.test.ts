import { Turns } from "@shoal/fair-share";
import { expect, it, vi } from "vitest";
import { serveFakes } from "../testing/serve-fakes.js";
import { COSTLY_BODY_BYTES, LONG_BODY_BYTES } from "./read-body.js";

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

it("the server asks for room before bodies that are costly together, and not for small ones", async () => {
  const room = vi.spyOn(Turns.prototype, "room");
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
