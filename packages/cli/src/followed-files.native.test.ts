import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ShoalError } from "@shoal/model";
import { type Logger, ResourceScope, silentLogger } from "@shoal/service-runtime";
import { expect, it } from "vitest";
import { followFiles } from "./followed-files.js";

it.each(["answers", "fails"])(
  "a reading that is under way at the end is cancelled; nobody learns that it %s",
  async (how) => {
    const folder = await mkdtemp(join(tmpdir(), "shoal-followed-"));
    const reported: unknown[] = [];
    const tell = (...line: unknown[]): unknown => reported.push(line);
    const logger: Logger = { ...silentLogger, info: tell, warn: tell };
    const scope = new ResourceScope();
    try {
      const file = join(folder, "file");
      await writeFile(file, "one");
      let readings = 0;
      let isCancelled: Promise<unknown> | undefined;
      const begun = new Promise<void>((resolve) => {
        const read = async (signal: AbortSignal) => {
          if (readings++ === 0) return { text: "one" };
          isCancelled = new Promise((cancelled) => signal.addEventListener("abort", cancelled));
          resolve();
          await isCancelled;
          if (how === "fails") throw new ShoalError("invalid", "it was cancelled");
          return { text: "two" };
        };
        void followFiles({ paths: [file], read, logger, lookMs: 10 }, scope).then(async (followed) => {
          followed.onChange(tell);
          await writeFile(file, "another one");
        });
      });
      await begun;
      await scope[Symbol.asyncDispose]();
      await isCancelled;
      await new Promise((resolve) => setImmediate(resolve));
      expect(reported).toEqual([]);
      expect(readings).toBe(2);
    } finally {
      await scope[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    }
  },
);
