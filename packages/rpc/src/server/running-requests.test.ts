import { NOBODY } from "@shoal/runtime";
import { expect, it } from "vitest";
import { RunningRequest } from "./running-requests.js";

it("S10: the parts of one request of a client have one share, those of others have others", () => {
  const of = (requestId: string | undefined) =>
    new RunningRequest({ deadline: Number.POSITIVE_INFINITY, requestId }, () => {}).share;
  expect(of("a-1")).toEqual(of("a-1"));
  const all = new Set(Array.from({ length: 1_000 }, (_, at) => of(`gateway-0-${at}`).connection));
  expect([all.size, all.has(NOBODY.connection)]).toEqual([1_000, false]);
  expect(of(undefined)).toBe(NOBODY);
});
