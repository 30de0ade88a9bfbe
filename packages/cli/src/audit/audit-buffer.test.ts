import type { Logger } from "@shoal/service-runtime";
import { silentLogger } from "@shoal/service-runtime";
import { describe, expect, it, vi } from "vitest";
import { AuditBuffer, type AuditOutput } from "./audit-buffer.js";

/** An output that a test holds in its hands. */
class HandledOutput implements AuditOutput {
  readonly name = "out";
  readonly lines: string[] = [];
  isClosed = false;
  mode: "takes" | "fails" | "hangs" = "takes";
  atMost = Number.POSITIVE_INFINITY;

  async append(lines: readonly Buffer[]): Promise<number> {
    if (this.mode === "fails") throw new Error("no space");
    if (this.mode === "hangs") return new Promise(() => undefined);
    const taken = lines.slice(0, this.atMost);
    for (const line of taken) this.lines.push(String(line));
    return taken.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isClosed = true;
  }
}

const OPTIONS = { bytesMax: 100, retryMs: 5, endMs: 200 };
const dropped = (count: number): string => `${count} dropped\n`;

describe("the way of lines to their output", () => {
  it("keeps their order, whatever the output takes at once", async () => {
    const output = new HandledOutput();
    output.atMost = 2;
    const buffer = new AuditBuffer(output, silentLogger, dropped, { ...OPTIONS, bytesMax: 10_000 });
    for (let i = 0; i < 50; i++) buffer.write(`${i}\n`);
    await buffer[Symbol.asyncDispose]();
    expect(output.lines).toEqual(Array.from({ length: 50 }, (_, i) => `${i}\n`));
    expect([output.isClosed, buffer.counts, buffer.bytes]).toEqual([true, { written: 50, dropped: 0 }, 0]);
  });

  it("is bounded: what does not fit is dropped, counted, and told where it is missing", async () => {
    const output = new HandledOutput();
    const said: string[] = [];
    const logger: Logger = { ...silentLogger, error: (_, text) => said.push(text), info: (_, text) => said.push(text) };
    output.mode = "fails";
    const buffer = new AuditBuffer(output, logger, dropped, OPTIONS);
    for (let i = 10; i < 99; i++) buffer.write(`line ${i} \n`);
    await vi.waitFor(() => expect(said.length).toBe(1));
    expect(buffer.bytes).toBeLessThanOrEqual(100);
    output.mode = "takes";
    await vi.waitFor(() => expect(said.length).toBe(2));
    buffer.write("after\n");
    await buffer[Symbol.asyncDispose]();
    const all = output.lines.join("").split("\n");
    expect(all.slice(0, 11)).toEqual(Array.from({ length: 11 }, (_, i) => `line ${10 + i} `));
    expect(all.slice(11)).toEqual(["78 dropped", "after", ""]);
    expect(buffer.counts.dropped).toBe(78);
    expect(said).toEqual([
      "the audit log cannot be written; lines wait, and are dropped when there are too many",
      "the audit log is written again",
    ]);
  });

  it("does not hold up the end of the process, and says what is lost", async () => {
    for (const mode of ["hangs", "fails"] as const) {
      const output = new HandledOutput();
      const lost = vi.fn();
      output.mode = mode;
      const buffer = new AuditBuffer(output, { ...silentLogger, error: lost }, dropped, OPTIONS);
      buffer.write("one\n");
      buffer.write("two\n");
      await buffer[Symbol.asyncDispose]();
      expect(lost).toHaveBeenLastCalledWith({ output: "out", lines: 2 }, "lines of the audit log are lost");
    }
  });
});
