import { eventLoop } from "@shoal/runtime";
import { LoopCounter } from "@shoal/runtime/testing/loop-counter";
import { expect, it, vi } from "vitest";
import { serveFakes } from "../testing/serve-fakes.js";
import { COSTLY_BODY_BYTES, LONG_BODY_BYTES } from "./incoming-body.js";

it("the server asks for room before bodies that are costly together, and not for small ones", async () => {
  const room = vi.spyOn(eventLoop, "room");
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

it("the server reads long bodies in steps of their own", async () => {
  using counter = new LoopCounter();
  const server = await serveFakes();
  try {
    const seen: number[] = [];
    server.services.ingest.importObjects = async () => {
      seen.push(counter.iterations);
      return [];
    };
    const body = { objects: [{ class: "Car", properties: { text: "x".repeat(LONG_BODY_BYTES) } }] };
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => server.send("POST", "/v1/batch/objects", body)),
    );
    expect(responses.map(({ status }) => status)).toEqual(new Array(8).fill(200));
    expect(new Set(seen).size).toBe(8);
  } finally {
    await server.gateway.stop();
  }
});
