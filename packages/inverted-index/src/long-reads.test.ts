import { ShoalError } from "@shoal/model";
import type { Work, Yielder } from "@shoal/runtime";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { LongReads } from "./long-reads.js";

/** More than one step may do. */
const LONG_STEPS = 3_000_000;

/** Work of so many steps that tells when it is begun, goes on, and ends. */
class Observed {
  readonly ended: number[] = [];
  open = 0;
  mostWorking = 0;
  readonly #working = new Set<number>();

  begin(name: number, stepCount: number): (yielder: Yielder) => Work<number> {
    return (yielder) => this.#work(name, stepCount, yielder);
  }

  *#work(name: number, stepCount: number, yielder: Yielder): Work<number> {
    this.open++;
    try {
      for (let step = 0; step < stepCount; step++) {
        yielder.count(LONG_STEPS);
        if (step > 0) this.#working.add(name);
        this.mostWorking = Math.max(this.mostWorking, this.#working.size);
        if (yielder.isDue) yield yielder.pause();
      }
      this.ended.push(name);
      return name;
    } finally {
      this.#working.delete(name);
      this.open--;
    }
  }
}

function gateOf(longReadsMax: number, longReadsWaitingMax: number) {
  return new LongReads({ longReadsMax, longReadsWaitingMax }).aggregations;
}

/** Until those that wait to show whether they are long have shown it. */
async function iterations(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setImmediate(resolve));
}

describe("long reads", () => {
  test.each([1, 2, 5])("%i at a time, in their order; nothing is held by those that wait", async (longReadsMax) => {
    const gate = gateOf(longReadsMax, 100);
    const observed = new Observed();
    const asked = Array.from({ length: 60 }, (_, name) => gate.run(observed.begin(name, 5), {}));
    expect(gate.running).toBe(longReadsMax);
    expect(observed.open).toBe(longReadsMax);
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 60 }, (_, name) => name));
    expect(observed.mostWorking).toBe(longReadsMax);
    expect(observed.ended).toEqual(Array.from({ length: 60 }, (_, name) => name));
    expect([gate.running, gate.waiting, observed.open]).toEqual([0, 0, 0]);
  });

  test("short ones are answered at once, while a few are being looked at and soon after", async () => {
    const gate = gateOf(1, 100);
    const observed = new Observed();
    const first = gate.run(observed.begin(0, 40), {});
    expect(gate.run(observed.begin(1, 0), {})).toBe(1);
    const long = Array.from({ length: 8 }, (_, at) => gate.run(observed.begin(10 + at, 3), {}));
    const late = gate.run(observed.begin(2, 0), {});
    expect(await late).toBe(2);
    expect(observed.ended).toEqual([1, 2]);
    await Promise.all([first, ...long]);
  });

  test("what a read waited for may fail when nobody waits any more", async () => {
    const gate = gateOf(1, 10);
    const observed = new Observed();
    const fault = new ShoalError("dataLoss", "a damaged block");
    const unheard: unknown[] = [];
    const listen = (reason: unknown) => unheard.push(reason);
    process.on("unhandledRejection", listen);
    try {
      const long = gate.run(observed.begin(0, 20), {});
      const failing = gate.run(function* (): Work<number> {
        yield Promise.reject(fault);
        return 1;
      }, {});
      await expect(failing).rejects.toBe(fault);
      expect(await long).toBe(0);
      const aborted = gate.run(
        function* (): Work<number> {
          yield Promise.reject(fault);
          return 1;
        },
        { signal: AbortSignal.abort(new ShoalError("deadlineExceeded", "too late")) },
      );
      await expect(aborted).rejects.toThrow("too late");
      await iterations(3);
      expect(unheard).toEqual([]);
    } finally {
      process.off("unhandledRejection", listen);
    }
  });

  test("beyond those that may wait they are refused, with a time to come back", async () => {
    const gate = gateOf(2, 3);
    const observed = new Observed();
    const asked = Array.from({ length: 30 }, (_, name) => gate.run(observed.begin(name, 50), {}));
    const settled = await Promise.allSettled(asked);
    const refused = settled.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    expect(settled.slice(0, 5).map(({ status }) => status)).toEqual(Array(5).fill("fulfilled"));
    expect(refused).toHaveLength(25);
    for (const error of refused) {
      expect(error).toMatchObject({
        code: "overloaded",
        message: "more than 3 long aggregations wait",
        retryAfterSeconds: 5,
      });
    }
    expect([gate.running, gate.waiting, observed.open]).toEqual([0, 0, 0]);
  });

  test("whoever waits hears the signal, and leaves his place to others", async () => {
    const gate = gateOf(1, 10);
    const observed = new Observed();
    const stop = new AbortController();
    const signals = [stop.signal, stop.signal, undefined, stop.signal];
    const asked = signals.map((signal, name) => gate.run(observed.begin(name, 20), { signal }));
    await iterations(2);
    expect([gate.running, gate.waiting]).toEqual([1, 3]);
    stop.abort(new ShoalError("deadlineExceeded", "too late"));
    expect(gate.waiting).toBe(1);
    const settled = await Promise.allSettled(asked);
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled", "rejected"]);
    expect(settled[1]).toMatchObject({ reason: { code: "deadlineExceeded" } });
    expect([gate.running, gate.waiting, observed.open]).toEqual([0, 0, 0]);
    const late = gate.run(observed.begin(9, 20), { signal: stop.signal });
    await expect(late).rejects.toMatchObject({ code: "deadlineExceeded" });
  });

  test("an iteration of the event loop is one read's", async () => {
    const { aggregations, filters } = new LongReads({ longReadsMax: 4, longReadsWaitingMax: 100 });
    let loop = 0;
    let isOver = false;
    const tick = () => {
      loop++;
      if (!isOver) setImmediate(tick);
    };
    const iterationsAt: number[] = [];
    function* work(): Work<void> {
      yield undefined;
      for (let at = 0; at < 10; at++) {
        iterationsAt.push(loop);
        yield undefined;
      }
    }
    const asked = [aggregations, filters].flatMap((gate) => Array.from({ length: 6 }, () => gate.run(work, {})));
    setImmediate(tick);
    await Promise.all(asked);
    isOver = true;
    expect(iterationsAt).toHaveLength(120);
    expect(new Set(iterationsAt).size).toBe(120);
  });

  test("random ones with failures and signals leave nothing behind", async () => {
    const random = seededRandom(4711);
    const gate = gateOf(2, 20);
    const observed = new Observed();
    for (let round = 0; round < 20; round++) {
      const asked = Array.from({ length: 25 }, (_, name) => {
        const stop = new AbortController();
        if (random.next() < 0.3) setImmediate(() => stop.abort(new Error("gone")));
        const begin = observed.begin(name, random.below(4));
        const fails = random.next() < 0.2;
        return Promise.resolve(
          gate.run(
            function* (yielder) {
              const result = yield* begin(yielder);
              if (fails) {
                yield yielder.pause();
                throw new Error("fails");
              }
              return result;
            },
            { signal: stop.signal },
          ),
        );
      });
      await Promise.allSettled(asked);
      expect([gate.running, gate.waiting, observed.open]).toEqual([0, 0, 0]);
    }
  });
});
