import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { LateSignal } from "./late-signal.js";

describe("a late signal", () => {
  test("tells whoever asks before and after that it was aborted, with the first reason", () => {
    const late = new LateSignal();
    expect(late.isAborted).toBe(false);
    late.abort("first");
    late.abort("second");
    expect([late.isAborted, late.signal.aborted, late.signal.reason]).toEqual([true, true, "first"]);
    const early = new LateSignal();
    const { signal } = early;
    early.abort("only");
    expect([signal.aborted, signal.reason, early.signal]).toEqual([true, "only", signal]);
  });

  test("asks for the outer one when it is asked for itself, and follows it", () => {
    const outer = new AbortController();
    let asked = 0;
    const context = {
      get signal() {
        asked++;
        return outer.signal;
      },
    };
    const late = new LateSignal(context);
    expect(asked).toBe(0);
    expect(late.signal.aborted).toBe(false);
    outer.abort("gone");
    expect([late.signal.aborted, late.signal.reason, asked]).toEqual([true, "gone", 1]);
    expect(new LateSignal(context).signal.reason).toBe("gone");
  });

  test("leaves nothing with the outer one when it is over", () => {
    const { signal } = new AbortController();
    const late = new LateSignal({ signal });
    expect(late.signal.aborted).toBe(false);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    late.end();
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});
