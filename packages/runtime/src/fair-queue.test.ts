import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { FairQueue } from "./fair-queue.js";
import type { Share } from "./request-context.js";

interface Step {
  readonly share: Share;
  readonly cost: number;
  readonly number: number;
}

const share = (owner: string, connection: number): Share => ({ owner, connection });

describe("FairQueue", () => {
  it("hands out to owners in turn, to their connections in turn, and to a connection in order", () => {
    const queue = new FairQueue<string>();
    for (const name of ["a1", "a2", "a3"]) queue.add(share("a", 1), name);
    for (const name of ["x1", "x2"]) queue.add(share("a", 2), name);
    for (const name of ["b1", "b2"]) queue.add(share("b", 3), name);
    const taken: (string | undefined)[] = [];
    while (queue.size > 0) {
      expect(queue.peek()).toBe(queue.peek());
      const next = queue.peek();
      expect(queue.take()).toBe(next);
      taken.push(next);
    }
    expect(taken).toEqual(["a1", "b1", "x1", "b2", "a2", "x2", "a3"]);
    expect([queue.peek(), queue.take()]).toEqual([undefined, undefined]);
  });

  it("lets nobody be first each time who asks again when he has been served", () => {
    const queue = new FairQueue<string>();
    for (let i = 0; i < 10; i++) queue.add(share("many", i), `many ${i}`);
    queue.add(share("one", 1), "one");
    const taken: string[] = [];
    for (let i = 0; i < 10; i++) {
      const next = queue.take() ?? "";
      taken.push(next.split(" ")[0] ?? "");
      if (next === "one") queue.add(share("one", 1), "one");
    }
    expect(taken.filter((owner) => owner === "one").length).toBe(5);
  });

  it("takes the last one of the owner that has most, for one who has less", () => {
    const queue = new FairQueue<string>();
    for (const [i, name] of ["a1", "a2", "a3"].entries()) queue.add(share("a", i), name);
    queue.add(share("b", 9), "b1");
    expect(queue.displace(share("a", 7))).toBeUndefined();
    expect(queue.displace(share("c", 7))).toBe("a3");
    expect(queue.displace(share("b", 7))).toBeUndefined();
    expect(queue.displace(share("c", 7))).toBe("a2");
    expect(queue.displace(share("c", 7))).toBeUndefined();
    expect(queue.size).toBe(2);
  });

  it("takes the last one of the connection that has most, for another one of its owner that has less", () => {
    const queue = new FairQueue<string>();
    for (const name of ["a1", "a2", "a3"]) queue.add(share("a", 1), name);
    expect([queue.isOnlyOf(share("a", 1)), queue.isOnlyOf(share("a", 2)), queue.isOnlyOf(share("b", 1))]).toEqual([
      true,
      false,
      false,
    ]);
    queue.add(share("a", 2), "a4");
    expect(queue.isOnlyOf(share("a", 1))).toBe(false);
    expect(queue.displace(share("a", 1))).toBeUndefined();
    expect(queue.displace(share("a", 2))).toBe("a3");
    expect(queue.displace(share("a", 2))).toBeUndefined();
    expect(queue.displace(share("a", 3))).toBe("a2");
    expect(queue.displace(share("a", 3))).toBeUndefined();
  });

  // Start-time fair queueing: what two that have something waiting all the time are served differs by two items at most.
  it.each([1, 2, 3, 4, 5])("seed %i: keeps equal parts while several wait, whoever comes and goes", (seed) => {
    const { below, oneIn, pick } = seededRandom(seed);
    const queue = new FairQueue<Step>();
    const waiting: Step[] = [];
    const owners = ["a", "b", "c", "d"];
    /** What an owner or a connection was served since it has been waiting without a break. */
    const served = new Map<string, Map<string, number>>();
    const keys = (step: Step) => [step.share.owner, `${step.share.owner}/${step.share.connection}`] as const;
    const isWaiting = (key: string) => waiting.some((step) => keys(step).includes(key));
    const forget = (step: Step): void => {
      for (const key of keys(step)) {
        if (isWaiting(key)) continue;
        served.delete(key);
        for (const seen of served.values()) seen.delete(key);
      }
    };
    const COST_MAX = 20;
    for (let number = 0; number < 6_000; number++) {
      const choice = below(100);
      if (choice < (number % 600 < 300 ? 60 : 40)) {
        const step = { share: share(pick(owners), below(3)), cost: 1 + below(COST_MAX), number };
        for (const key of keys(step)) if (!isWaiting(key)) served.set(key, new Map());
        waiting.push(step);
        queue.add(step.share, step, step.cost);
      } else if (oneIn(20) && waiting.length > 0) {
        const step = pick(waiting);
        expect(queue.remove(step.share, step)).toBe(true);
        expect(queue.remove(step.share, step)).toBe(false);
        waiting.splice(waiting.indexOf(step), 1);
        forget(step);
      } else {
        const expected = queue.peek();
        const step = queue.take();
        expect(step).toBe(expected);
        expect(step === undefined).toBe(waiting.length === 0);
        if (step === undefined) continue;
        const before = waiting.filter((other) => keys(other)[1] === keys(step)[1] && other.number < step.number);
        expect(before).toEqual([]);
        // Whoever waits all the time sees what the others at his side get, and what he gets himself.
        for (const [at, key] of keys(step).entries()) {
          for (const [other, seen] of served) {
            const isBeside = at === 0 ? !other.includes("/") : other.startsWith(`${step.share.owner}/`);
            if (!isBeside) continue;
            if (other === key) {
              for (const beside of served.keys()) seen.set(beside, (seen.get(beside) ?? 0) - step.cost);
            } else seen.set(key, (seen.get(key) ?? 0) + step.cost);
            const ahead = seen.get(key) ?? 0;
            if (other !== key && served.has(key)) expect(ahead).toBeLessThanOrEqual(2 * COST_MAX);
          }
        }
        waiting.splice(waiting.indexOf(step), 1);
        forget(step);
      }
      expect(queue.size).toBe(waiting.length);
    }
  });
});
