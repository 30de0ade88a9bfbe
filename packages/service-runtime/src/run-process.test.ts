import { EventEmitter } from "node:events";
import { ShoalError } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { ResourceScope } from "./resource-scope.js";
import { type ProcessHost, runProcess } from "./run-process.js";

class FakeProcess extends EventEmitter implements ProcessHost {
  readonly codes: number[] = [];
  readonly lines: string[] = [];
  readonly stderr = { write: (line: string) => this.lines.push(line) };
  exit(code: number): void {
    this.codes.push(code);
  }
}

describe("runProcess", () => {
  it("drains on a signal, closes in reverse order, exits with 0 and leaves no listener", async () => {
    const host = new FakeProcess();
    const events: string[] = [];
    const ended = runProcess(host, async (scope) => {
      scope.defer(() => void events.push("store"));
      scope.use({ [Symbol.asyncDispose]: async () => void events.push("server") });
      scope.use({ [Symbol.dispose]: () => void events.push("watch") });
      return { drain: async () => void events.push("drain") };
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(events).toEqual([]);
    host.emit("SIGTERM", "SIGTERM");
    await ended;
    expect(events).toEqual(["drain", "watch", "server", "store"]);
    expect(host.codes).toEqual([0]);
    expect(host.eventNames()).toEqual([]);
  });

  it("holds the process until it is over, whatever it waits for", async () => {
    const host = new FakeProcess();
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === "Timeout").length;
    const before = timers();
    const during: number[] = [];
    const ended = runProcess(host, async (scope) => {
      scope.defer(() => void during.push(timers()));
      return { drain: async () => void during.push(timers()) };
    });
    await new Promise((resolve) => setImmediate(resolve));
    host.emit("SIGTERM", "SIGTERM");
    await ended;
    expect(during).toEqual([before + 1, before + 1]);
    expect(timers()).toBe(before);
  });

  it("exits at once on the second signal", async () => {
    const host = new FakeProcess();
    let finish = (): void => {};
    const ended = runProcess(host, async () => ({ drain: () => new Promise<void>((resolve) => (finish = resolve)) }));
    await new Promise((resolve) => setImmediate(resolve));
    host.emit("SIGINT", "SIGINT");
    expect(host.codes).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    host.emit("SIGTERM", "SIGTERM");
    expect(host.codes).toEqual([130]);
    finish();
    await ended;
  });

  it("prints a failed start as one line, closes what was open, exits with 1", async () => {
    const host = new FakeProcess();
    let closed = false;
    await runProcess(host, async (scope) => {
      scope.defer(() => {
        closed = true;
      });
      throw new ShoalError("invalid", "PORT must be\n a number");
    });
    expect(closed).toBe(true);
    expect(host.lines).toEqual(["shoal: PORT must be a number\n"]);
    expect(host.codes).toEqual([1]);
  });

  it("tells the start of a signal and stops after it", async () => {
    const host = new FakeProcess();
    let drained = false;
    const ended = runProcess(host, async (_, stopping) => {
      await new Promise((resolve) => stopping.addEventListener("abort", resolve));
      return {
        drain: async () => {
          drained = true;
        },
      };
    });
    await new Promise((resolve) => setImmediate(resolve));
    host.emit("SIGTERM", "SIGTERM");
    await ended;
    expect(drained).toBe(true);
    expect(host.codes).toEqual([0]);
  });

  it("leaves a start that goes on for too long after a signal", async () => {
    const host = new FakeProcess();
    const begun = performance.now();
    void runProcess(host, () => new Promise(() => {}), 50);
    host.emit("SIGTERM", "SIGTERM");
    while (host.codes.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(performance.now() - begun).toBeGreaterThanOrEqual(49);
    expect(host.codes).toEqual([0]);
    expect(host.lines).toEqual(["shoal: stopped while it was starting\n"]);
  });

  it("says why a start failed after a signal, and does not leave it a second time", async () => {
    const host = new FakeProcess();
    const failing = runProcess(
      host,
      async (_, stopping) => {
        await new Promise((resolve) => stopping.addEventListener("abort", resolve));
        throw new ShoalError("unavailable", "there is no coordinator");
      },
      20,
    );
    host.emit("SIGTERM", "SIGTERM");
    await failing;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(host.lines).toEqual(["shoal: there is no coordinator\n"]);
    expect(host.codes).toEqual([1]);
  });

  it("stops when the service fails by itself, and when a fault escapes", async () => {
    const host = new FakeProcess();
    await runProcess(host, async () => ({ drain: async () => {}, failed: Promise.reject(new Error("disk gone")) }));
    expect(host.lines).toEqual(["shoal: Error: disk gone\n"]);
    expect(host.codes).toEqual([1]);

    const other = new FakeProcess();
    void runProcess(other, () => new Promise(() => {}));
    other.emit("unhandledRejection", new Error("lost"));
    expect(other.lines[0]).toMatch(/^fatal: Error: lost/);
    expect(other.codes).toEqual([1]);
  });
});

describe("ResourceScope", () => {
  it("closes the rest when one fails, and reports all failures", async () => {
    const scope = new ResourceScope();
    const closed: number[] = [];
    scope.defer(() => void closed.push(1));
    scope.defer(() => Promise.reject(new Error("second")));
    scope.defer(() => {
      throw new Error("third");
    });
    await expect(scope[Symbol.asyncDispose]()).rejects.toThrow("2 resources could not be closed");
    expect(closed).toEqual([1]);
    await scope[Symbol.asyncDispose]();
    expect(() => scope.defer(() => {})).toThrow("disposed");
  });
});
