import { expect, it } from "vitest";
import { poolThreads } from "./thread-pool.js";

it.each([
  [undefined, 4],
  ["", 4],
  ["1", 1],
  ["64", 64],
  ["1024", 1024],
  ["1025", undefined],
  ["0", undefined],
  ["-1", undefined],
  ["4.5", undefined],
  [" 8", undefined],
  ["1e2", undefined],
  ["many", undefined],
])("UV_THREADPOOL_SIZE %j: %j threads", (UV_THREADPOOL_SIZE, threads) => {
  expect(poolThreads({ UV_THREADPOOL_SIZE })).toBe(threads);
});
