import { type Failure, FakeContainer } from "@shoal/inference/testing/fake-container";
import { expect, it } from "vitest";
import { InferenceContainer } from "./inference-container.js";
import { mapConcurrently } from "./map-concurrently.js";

const PATHS = { "/vectors": ({ text }: Record<string, unknown>) => ({ text, vector: [String(text).length, 0.5] }) };
const reported: string[] = [];
const ask = (address: string) =>
  new InferenceContainer("some-module", address, { nowMs: Date.now, tell: (message) => reported.push(message) });
const inTime = () => ({ deadline: Date.now() + 20_000 });

it("sends a body as JSON and gives back the answer", async () => {
  await using there = await FakeContainer.start(PATHS, { name: "a model" });
  await using container = ask(`${there.address}/`);
  expect(await container.post("/vectors", { text: "fünf" }, inTime())).toEqual({ text: "fünf", vector: [4, 0.5] });
  expect(await container.vector("/vectors", { text: "abc" }, inTime())).toEqual(new Float32Array([3, 0.5]));
  expect(await container.meta(inTime())).toEqual({ name: "a model" });
  expect(there.asked.map(({ body }) => body)).toEqual([{ text: "fünf" }, { text: "abc" }]);
});

it("finds a container below a path", async () => {
  await using there = await FakeContainer.start({ "/models/vectors": () => ({ vector: [1] }) });
  await using container = ask(`${there.address}/models/`);
  expect(await container.vector("/vectors", {}, inTime())).toEqual(new Float32Array([1]));
});

it.each<[Failure, string, string]>([
  ["error", "unavailable", "it answered with status 500: out of memory"],
  ["refused", "invalid", "it answered with status 422: the text is too long"],
  ["away", "unavailable", "it answered with status 503"],
  ["garbage", "unavailable", "its answer must be a JSON object, got '<html>oops</html>'"],
  ["cut", "unavailable", "cannot be reached: "],
  ["huge", "unavailable", "cannot be reached: "],
])("says what is wrong with a container: %s", async (failure, code, text) => {
  await using there = await FakeContainer.start(PATHS);
  there.always = failure;
  await using container = ask(there.address);
  await expect(container.post("/vectors", { text: "a" }, inTime())).rejects.toMatchObject({
    code,
    message: expect.stringContaining(`the container of some-module at ${new URL(there.address).host}: ${text}`),
  });
});

it.each<[Failure, number]>([
  ["cut", 2],
  ["away", 2],
  ["error", 1],
  ["refused", 1],
  ["garbage", 1],
])("sends once more only what may not have arrived: %s", async (failure, times) => {
  await using there = await FakeContainer.start(PATHS);
  there.failures = [failure];
  await using container = ask(there.address);
  const response = await container.vector("/vectors", { text: "a" }, inTime()).catch(() => undefined);
  expect(there.asked).toHaveLength(times);
  expect(response).toEqual(times === 2 ? new Float32Array([1, 0.5]) : undefined);
});

it.each([[[]], [["a"]], [[1, null]], [null], [{}], ["1"]])("takes %j for no vector", async (vector) => {
  await using there = await FakeContainer.start({ "/vectors": () => ({ vector }) });
  await using container = ask(there.address);
  await expect(container.vector("/vectors", {}, inTime())).rejects.toThrow("it answered no vector of numbers");
});

it("takes an error with status 200 for one", async () => {
  await using there = await FakeContainer.start({ "/vectors": () => ({ vector: [1], error: "no such image" }) });
  await using container = ask(there.address);
  await expect(container.vector("/vectors", {}, inTime())).rejects.toThrow("no such image");
});

it("waits no longer than the request, nor for those who have gone away", async () => {
  await using there = await FakeContainer.start(PATHS);
  there.always = "slow";
  await using container = ask(there.address);
  await expect(container.post("/vectors", {}, { deadline: Date.now() + 50 })).rejects.toMatchObject({
    code: "deadlineExceeded",
  });
  const caller = new AbortController();
  const call = container.post("/vectors", {}, { ...inTime(), signal: caller.signal });
  await expect.poll(() => there.asked.length).toBe(2);
  caller.abort(new Error("gone away"));
  await expect(call).rejects.toThrow("gone away");
  await expect(container.post("/vectors", {}, { ...inTime(), signal: caller.signal })).rejects.toThrow("gone away");
  expect(there.asked).toHaveLength(2);
});

it("hears of a caller's leaving from a context that makes its signal when it is asked", async () => {
  await using there = await FakeContainer.start(PATHS);
  there.always = "slow";
  await using container = ask(there.address);
  const caller = new AbortController();
  class RequestContext {
    readonly deadline = Date.now() + 20_000;
    get signal() {
      return caller.signal;
    }
  }
  const call = container.post("/vectors", {}, new RequestContext());
  await expect.poll(() => there.asked.length).toBe(1);
  caller.abort(new Error("gone away"));
  await expect(call).rejects.toThrow("gone away");
});

it("works again when a container that was gone has come back", async () => {
  await using there = await FakeContainer.start(PATHS);
  await using container = ask(there.address);
  await container.post("/vectors", { text: "a" }, inTime());
  await there.close();
  await expect(container.post("/vectors", { text: "a" }, inTime())).rejects.toMatchObject({ code: "unavailable" });
  await there.listen();
  await container.post("/vectors", { text: "a" }, inTime());
});

it("has at most sixteen calls there at a time", async () => {
  await using there = await FakeContainer.start(PATHS);
  await using container = ask(there.address);
  there.always = "slow";
  const caller = new AbortController();
  const calls = Array.from({ length: 40 }, () =>
    container.post("/vectors", {}, { ...inTime(), signal: caller.signal }),
  );
  const ends = Promise.allSettled(calls);
  await expect.poll(() => there.atOnce).toBe(16);
  caller.abort(new Error("gone away"));
  await ends;
  expect(there.atOnceMax).toBe(16);
  there.always = undefined;
  const texts = Array.from({ length: 200 }, (_, i) => "x".repeat(i));
  const vectors = await Promise.all(texts.map((text) => container.vector("/vectors", { text }, inTime())));
  expect(vectors.map(([length]) => length)).toEqual(texts.map((text) => text.length));
});

it("is ready when the container says so, and says who is not", async () => {
  await using there = await FakeContainer.start(PATHS);
  there.isReady = false;
  await using container = ask(there.address);
  reported.length = 0;
  const ready = container.awaitReady(inTime());
  await expect.poll(() => reported).toEqual(["an inference container is not ready yet"]);
  there.isReady = true;
  await ready;
  expect(there.probes).toBeGreaterThan(1);
  await using gone = ask("http://127.0.0.1:1");
  await expect(gone.awaitReady({ deadline: Date.now() })).rejects.toThrow(
    "the container of some-module at 127.0.0.1:1: is not ready, and was waited for long enough",
  );
});

it("maps in order, a few at a time, and begins nothing after a failure", async () => {
  let running = 0;
  let most = 0;
  const begun: number[] = [];
  const work = async (item: number): Promise<number> => {
    begun.push(item);
    most = Math.max(most, ++running);
    for (let turn = 0; turn < (item * 7) % 5; turn++) await Promise.resolve();
    running--;
    if (item === 50) throw new Error("fifty");
    return item * 2;
  };
  const items = Array.from({ length: 40 }, (_, i) => i);
  expect(await mapConcurrently(items, 3, work)).toEqual(items.map((item) => item * 2));
  expect(most).toBe(3);
  expect(await mapConcurrently([], 3, work)).toEqual([]);
  begun.length = 0;
  await expect(mapConcurrently([50, 1, 2, 3, 4, 5], 2, work)).rejects.toThrow("fifty");
  expect(begun.length).toBeLessThan(6);
});
