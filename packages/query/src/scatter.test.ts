import { expect, it } from "vitest";
import { scatter } from "./scatter.js";

it("gives many shards a signal that all of them may listen to without a warning", async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning.name);
  process.on("warning", onWarning);
  const context = { deadline: Number.MAX_SAFE_INTEGER, signal: new AbortController().signal };
  const targets = Array.from({ length: 16 }, (_, at) => at);
  await scatter(targets, context, async (_, { signal }) => signal?.addEventListener("abort", () => {}));
  // Warnings come an iteration later.
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});
