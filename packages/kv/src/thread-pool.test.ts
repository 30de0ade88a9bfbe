import { expect, it } from "vitest";
import { poolThreads } from "./thread-pool.js";

// As libuv reads it with atoi(3), and bounds it.
it.each([
  [undefined, 4],
  ["64", 64],
  ["1024", 1024],
  ["5000", 1024],
  ["0", 1],
  ["", 1],
  ["many", 1],
  ["-1", 1024],
])("UV_THREADPOOL_SIZE %j: %d threads", (UV_THREADPOOL_SIZE, threads) => {
  expect(poolThreads({ UV_THREADPOOL_SIZE })).toBe(threads);
});
