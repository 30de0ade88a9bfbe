import { expect, it } from "vitest";
import { InnerContext } from "./inner-context.js";
import { LateSignal } from "./late-signal.js";

const rowBytes = { add: () => undefined };

it("has what is not its own from the context of the whole, and asks for it late", () => {
  const asked: string[] = [];
  const outer = {
    deadline: 5,
    rowBytes,
    get requestId() {
      asked.push("requestId");
      return "r-1";
    },
    readsPrimary: true,
    get signal() {
      asked.push("signal");
      return AbortSignal.abort("over");
    },
    get share() {
      asked.push("share");
      return { owner: "a", connection: 7 };
    },
  };
  const inner = new InnerContext(outer, {});
  expect([inner.deadline, inner.rowBytes, inner.readsPrimary]).toEqual([5, rowBytes, true]);
  expect(asked).toEqual([]);
  expect([inner.requestId, inner.signal?.reason, inner.share?.connection]).toEqual(["r-1", "over", 7]);
  expect(asked).toEqual(["requestId", "signal", "share"]);
});

it("has bounds of its own", () => {
  const bounded = new InnerContext({ deadline: 5 }, { deadline: 3, waitMsMax: 1 });
  expect([bounded.deadline, bounded.waitMsMax]).toEqual([3, 1]);
  const inner = new InnerContext(bounded, { waitMsMax: 2 });
  expect([inner.deadline, inner.waitMsMax, new InnerContext(bounded, {}).waitMsMax]).toEqual([3, 2, 1]);
});

it("counts rows and is given up on its own", () => {
  const own = { add: () => undefined };
  const outer = { deadline: 5, rowBytes, signal: new AbortController().signal };
  const late = new LateSignal(outer);
  const inner = new InnerContext(outer, { rowBytes: own, late });
  expect(inner.rowBytes).toBe(own);
  late.abort("rest");
  expect([inner.signal?.reason, outer.signal.aborted]).toEqual(["rest", false]);
  late.end();
});
