import { expect, it } from "vitest";
import { checkThreadPool } from "./service-command.js";

it.each([undefined, "", "1", "64", "1024"])("takes %j", (UV_THREADPOOL_SIZE) => {
  expect(() => checkThreadPool({ UV_THREADPOOL_SIZE })).not.toThrow();
});

it.each(["0", "1025", "-1", "4.5", "many", " 8", "1e2"])(
  "refuses %j, and says what it may be",
  (UV_THREADPOOL_SIZE) => {
    expect(() => checkThreadPool({ UV_THREADPOOL_SIZE })).toThrow(
      `UV_THREADPOOL_SIZE is '${UV_THREADPOOL_SIZE}', it must be a whole number from 1 to 1024`,
    );
  },
);
