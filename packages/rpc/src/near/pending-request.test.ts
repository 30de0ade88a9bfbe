import { expect, it } from "vitest";
import { SHARD_STATUSES } from "../wire/read-methods.js";
import type { ShardMethod } from "../wire/shard-method.js";
import { PendingRequest } from "./pending-request.js";

const method = SHARD_STATUSES as ShardMethod<unknown, unknown>;

it("asks for the signal at the second look, and for the deadline at the first", () => {
  let asked = 0;
  const context = {
    deadline: 100,
    get signal() {
      asked++;
      return AbortSignal.abort("gone");
    },
  };
  const pending = new PendingRequest(method, undefined, context);
  expect(pending.abortReason(0, "n")).toBeUndefined();
  expect(asked).toBe(0);
  expect(pending.abortReason(0, "n")).toBe("gone");
  expect(new PendingRequest(method, undefined, context).abortReason(100, "n")).toMatchObject({
    code: "deadlineExceeded",
  });
});
