import { getMaxListeners } from "node:events";
import { expect, it } from "vitest";
import { scatter } from "./scatter.js";

it("gives many shards a signal that all of them may listen to without a warning", async () => {
  const context = { deadline: Number.MAX_SAFE_INTEGER, signal: new AbortController().signal };
  const targets = Array.from({ length: 16 }, (_, at) => at);
  const limits = await scatter(targets, context, async (_, { signal }) =>
    signal === undefined ? undefined : getMaxListeners(signal),
  );
  expect(limits).toEqual(targets.map(() => 0));
});
