import { expect, it } from "vitest";
import { SHARD_METHODS } from "../shard-methods.js";
import { PendingRequest } from "./pending-request.js";

const [method] = SHARD_METHODS.filter(({ name }) => name === "shardStatuses");

it("asks for the signal at the second look, and for the deadline at the first", () => {
  if (method === undefined) throw new Error("there is such a method");
  let asked = 0;
  const context = {
    deadline: 100,
    get signal() {
      asked++;
      return AbortSignal.abort("gone");
    },
  };
  const pending = new PendingRequest(method, [], context);
  expect(pending.abortReason(0, "n")).toBeUndefined();
  expect(asked).toBe(0);
  expect(pending.abortReason(0, "n")).toBe("gone");
  expect(new PendingRequest(method, [], context).abortReason(100, "n")).toMatchObject({
    code: "deadlineExceeded",
  });
});
