import { describe, expect, it } from "vitest";
import { createLogger } from "./logger.js";

function collect(logFormat: "json" | "text", logLevel: "info" | "warning" = "info") {
  const lines: string[] = [];
  return { lines, logger: createLogger({ logFormat, logLevel }, { write: (line) => lines.push(line) }) };
}

describe("logger", () => {
  it("writes one JSON object a line and keeps secrets out at every depth", () => {
    const { lines, logger } = collect("json");
    logger.info({ token: "s3cret", request: { headers: { authorization: "Bearer s3cret" } }, shard: "a" }, "hello");
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain("s3cret");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "info", message: "hello", shard: "a" });
  });

  it("writes text on demand", () => {
    const { lines, logger } = collect("text");
    logger.warn({ port: 80, name: "x" }, "busy");
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}busy {2}port=80 {2}name=x\n$/);
  });

  it("keeps one line one line, whatever strangers put into it", () => {
    const evil = 'a\n{"level":"error"}\r\u001b[2J\u2028 x=1';
    for (const format of ["json", "text"] as const) {
      const { lines, logger } = collect(format);
      logger.warn({ path: evil, [evil]: { nested: evil } }, `bad ${evil}`);
      expect(lines).toHaveLength(1);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      expect(lines[0]).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u2028]|\n./);
    }
  });

  it("says which levels it writes", () => {
    expect(collect("json", "warning").logger.isEnabled?.("info")).toBe(false);
    expect(collect("json", "warning").logger.isEnabled?.("error")).toBe(true);
  });

  it("leaves out what is less severe than the level", () => {
    const { lines, logger } = collect("json", "warning");
    logger.info({}, "no");
    logger.error({ error: new Error("bad", { cause: new Error("deep") }) }, "yes");
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ error: { message: "bad", cause: { message: "deep" } } });
  });
});
