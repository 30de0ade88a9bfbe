import { describe, expect, it } from "vitest";
import { ProgressBar } from "./progress-bar.js";
import { Terminal } from "./terminal.js";

function drawn(isTTY: boolean, noColor = true): { text: string; lines: string[] } {
  let text = "";
  let now = 0;
  const terminal = new Terminal({ isTTY, write: (piece) => (text += piece) }, noColor);
  const bar = new ProgressBar(terminal, 1000, "words", () => now);
  for (let done = 10; done <= 1000; done += 10) {
    now += 10;
    bar.update(done);
  }
  return { text, lines: text.split("\n").filter((line) => line !== "") };
}

describe("ProgressBar", () => {
  it("prints five plain lines where there is no terminal", () => {
    const { text, lines } = drawn(false, false);
    expect(lines.map((line) => /(\d+) %/.exec(line)?.[1])).toEqual(["20", "40", "60", "80", "100"]);
    expect(text).not.toContain("\x1b");
    expect(lines.at(-1)).toBe(`  ${"█".repeat(32)} 100 %  1,000 words  1,000/s`);
  });

  it("redraws one line on a terminal, not at every update, and ends it", () => {
    const { text, lines } = drawn(true);
    expect(lines).toHaveLength(1);
    expect(text.endsWith("1,000/s\n")).toBe(true);
    const redraws = text.split("\r").length - 1;
    expect(redraws).toBeGreaterThan(5);
    expect(redraws).toBeLessThan(20);
  });

  it("styles only where it may", () => {
    expect(drawn(true, false).text).toContain("\x1b[36m");
    expect(drawn(true, true).text).not.toContain("\x1b[36m");
  });
});
