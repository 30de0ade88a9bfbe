import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { type Heartbeat, NodeLeases } from "./node-leases.js";
import { TIMING } from "./timing.js";

describe("NodeLeases", () => {
  it("never holds a lease for longer than the other side counts, whatever happens to messages and clocks", () => {
    for (let seed = 1; seed <= 50; seed++) {
      const random = seededRandom(seed);
      const clocks = [0, 1].map(() => ({
        offset: random.below(1_000_000),
        rate: 1 + (random.next() - 0.5) * TIMING.drift,
      }));
      const local = (side: number, at: number) => (clocks[side]?.offset ?? 0) + at * (clocks[side]?.rate ?? 1);
      const sides = [0, 1].map((side) => new NodeLeases(`run${side}`, local(side, 0), TIMING));
      let onTheWay: { readonly at: number; readonly to: number; readonly heartbeat: Heartbeat }[] = [];
      let held = 0;
      for (let at = 0; at < 60_000; at += 50) {
        onTheWay = onTheWay.filter((one) => one.at >= at);
        for (const [side, leases] of sides.entries()) {
          if (at % 500 === 0) {
            const heartbeat = leases.heartbeatTo("other", local(side, at));
            for (let copy = random.below(3); copy > 0; copy--) {
              onTheWay.push({
                at: at + (random.oneIn(5) ? random.below(8_000) : random.below(100)),
                to: 1 - side,
                heartbeat,
              });
            }
          }
          for (const message of onTheWay.filter((one) => one.to === side && one.at >= at && one.at < at + 50)) {
            leases.receive("other", message.heartbeat, local(side, at));
          }
          if (leases.held("other", local(side, at)) === undefined) continue;
          held++;
          const endsAt = sides[1 - side]?.grantEndsAt("other") ?? 0;
          if (endsAt <= local(1 - side, at)) expect.fail(`seed ${seed}: held at ${at}, granted until ${endsAt}`);
        }
      }
      expect(held).toBeGreaterThan(0);
    }
  });

  it("numbers a lease again after it had ended, and says so to others", () => {
    const one = new NodeLeases("a", 0, TIMING);
    const other = new NodeLeases("b", 0, TIMING);
    const exchange = (at: number) => {
      other.receive("one", one.heartbeatTo("other", at), at);
      one.receive("other", other.heartbeatTo("one", at), at);
    };
    exchange(0);
    exchange(500);
    const first = one.held("other", 600);
    expect(first).toBeDefined();
    expect(one.held("other", 500 + TIMING.leaseMs)).toBeUndefined();
    exchange(5_000);
    expect(one.held("other", 5_100)).toBe((first ?? 0) + 1);
    exchange(5_500);
    expect(other.heldThrough("one", "other", 5_600)).toBe((first ?? 0) + 1);
  });

  it("grants nothing while anybody withholds, nor to another run of the peer", () => {
    const one = new NodeLeases("a", 0, TIMING);
    const other = new NodeLeases("b", 0, TIMING);
    one.receive("other", other.heartbeatTo("one", 10), 10);
    one.withhold("other", "s1");
    one.withhold("other", "s2");
    one.release("other", "s1");
    expect(one.heartbeatTo("other", 20).echo).toBeUndefined();
    one.release("other", "s2");
    const { echo } = one.heartbeatTo("other", 30);
    expect(echo).toEqual({ run: "b", at: 10 });
    const restarted = new NodeLeases("b2", 40, TIMING);
    restarted.receive("one", one.heartbeatTo("other", 30), 40);
    expect(restarted.held("one", 41)).toBeUndefined();
    // What the run before has granted may still hold.
    expect(restarted.grantEndsAt("one")).toBeGreaterThanOrEqual(40 + TIMING.leaseMs);
  });
});
