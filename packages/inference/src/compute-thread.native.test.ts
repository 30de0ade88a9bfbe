import { expect, it } from "vitest";
import { ComputeThread } from "./compute-thread.js";

const ECHO = new URL("./testing/echo-thread.mjs", import.meta.url);
const UNLOADABLE = new URL("./testing/unloadable-thread.mjs", import.meta.url);
const thread = (file = ECHO) => new ComputeThread<string, string>("some-module", file, { nowMs: Date.now });
const inTime = () => ({ deadline: Date.now() + 20_000 });

it("does jobs one after another, and goes on after one that fails", async () => {
  await using echo = thread();
  const works = ["a", "fail", "b"].map((work) => echo.compute(work, inTime()).catch((error: Error) => error.message));
  expect(await Promise.all(works)).toEqual(["a 1", "the embedded back end of some-module: that cannot be done", "b 3"]);
});

it("begins nothing that nobody waits for any more", async () => {
  await using echo = thread();
  const caller = new AbortController();
  const first = echo.compute("a", inTime());
  const second = echo.compute("b", { ...inTime(), signal: caller.signal });
  const late = echo.compute("c", { deadline: Date.now() });
  const third = echo.compute("d", inTime());
  caller.abort(new Error("gone away"));
  await expect(second).rejects.toThrow("gone away");
  await expect(late).rejects.toMatchObject({ code: "deadlineExceeded" });
  expect(await Promise.all([first, third])).toEqual(["a 1", "d 2"]);
});

it("is restarted after a crash", async () => {
  await using echo = thread();
  const works = ["a", "crash", "b"].map((work) => echo.compute(work, inTime()).catch((error: Error) => error.message));
  expect(await Promise.all(works)).toEqual([
    "a 1",
    "the embedded back end of some-module: its thread has ended",
    "b 1",
  ]);
});

it("says that it can do nothing when its inside cannot be loaded", async () => {
  await using unloadable = thread(UNLOADABLE);
  await expect(unloadable.compute("a", inTime())).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("no such package"),
  });
});

it("refuses what would wait behind too many, and everything that waits when it is stopped", async () => {
  const echo = thread();
  const works = Array.from({ length: 400 }, () => echo.compute("a", inTime()).catch((error: unknown) => error));
  await expect(works[399]).resolves.toMatchObject({ code: "overloaded", retryAfterSeconds: 1 });
  await echo[Symbol.asyncDispose]();
  await expect(works[256]).resolves.toMatchObject({ code: "unavailable" });
});
