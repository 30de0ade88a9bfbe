import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { Budget, type Holder, type Holding } from "./budget.js";

class Body implements Holder {
  readonly share;
  isCut = false;
  holding: Holding | undefined;

  constructor(
    readonly owner: string,
    readonly rate: number | null = 1,
  ) {
    this.share = { owner, connection: 0 };
  }

  speed(): number | undefined {
    return this.rate ?? undefined;
  }

  cutOff(): void {
    expect(this.isCut).toBe(false);
    this.isCut = true;
  }

  in(budget: Budget): this {
    this.holding = budget.open(this);
    return this;
  }

  take(amount: number): boolean {
    return this.holding?.take(amount) ?? false;
  }

  get held(): number {
    return this.holding?.held ?? 0;
  }
}

describe("Budget", () => {
  it("lets one owner have nearly all of it, and keeps the rest for others", () => {
    const budget = new Budget(800);
    const bodies = Array.from({ length: 8 }, () => new Body("a", null).in(budget));
    expect(bodies.map((body) => body.take(100))).toEqual([true, true, true, true, true, true, true, false]);
    const other = new Body("b", null).in(budget);
    expect([other.take(101), other.take(100), budget.held]).toEqual([false, true, 800]);
    for (const { holding } of bodies) holding?.close();
    expect([budget.held, budget.holders]).toEqual([100, 1]);
  });

  it("lets a single part be as large as everything, and larger where it may go alone", () => {
    const budget = new Budget(800);
    const [body, other] = [new Body("a", null).in(budget), new Body("a", null).in(budget)];
    expect([body.take(800), body.take(1)]).toEqual([true, false]);
    expect(body.holding?.takeAlone(200)).toBe(true);
    expect(other.holding?.takeAlone(1)).toBe(false);
    body.holding?.give(5_000);
    expect(budget.held).toBe(0);
  });

  it("S2: cuts the slowest of the owner that holds most, never one who holds less", () => {
    const budget = new Budget(800);
    const stalled = new Body("hog", 0).in(budget);
    const moving = new Body("hog", 7).in(budget);
    expect([stalled.take(300), moving.take(400)]).toEqual([true, true]);
    const small = new Body("small", 5).in(budget);
    expect([small.take(50), small.take(100)]).toEqual([true, true]);
    expect([stalled.isCut, moving.isCut, budget.held]).toEqual([true, false, 550]);
    expect(moving.take(300)).toBe(false);
    expect([small.isCut, moving.held, stalled.take(1)]).toEqual([false, 400, false]);
  });

  it("S2: of one owner cuts what stalls before anything new is refused, and not what is as fast", () => {
    const budget = new Budget(800);
    const stalled = new Body("a", 0).in(budget);
    expect(stalled.take(700)).toBe(true);
    const fresh = new Body("a", Number.POSITIVE_INFINITY).in(budget);
    expect([fresh.take(650), stalled.isCut]).toEqual([true, true]);
    const peer = new Body("a", Number.POSITIVE_INFINITY).in(budget);
    expect([peer.take(100), fresh.isCut]).toEqual([false, false]);
  });

  it("S2: bounds how many hold a part, by the same rule", () => {
    const budget = new Budget(800, { holdersMax: 3 });
    const hog = [3, 0, 2].map((rate) => new Body("hog", rate).in(budget));
    const victim = new Body("victim", Number.POSITIVE_INFINITY).in(budget);
    expect(hog.map(({ isCut }) => isCut)).toEqual([false, true, false]);
    expect(victim.take(1)).toBe(true);
    expect(new Body("third", null).in(budget).holding).toBeDefined();
    expect(hog.map(({ isCut }) => isCut)).toEqual([false, true, true]);
    // One each: nobody has more than the one who asks would have.
    expect(new Body("fourth", 9).in(budget).holding).toBeUndefined();
    expect(budget.holders).toBe(3);
  });

  it("bounds parts of itself", () => {
    const whole = new Budget(1_000);
    const [left, right] = [whole.child(600), whole.child(600)];
    const [one, two, three] = [new Body("a", null).in(left), new Body("b", 1).in(right), new Body("c").in(right)];
    expect([one.take(601), one.take(600), two.take(300)]).toEqual([false, true, true]);
    expect([left.held, right.held, whole.held]).toEqual([600, 300, 900]);
    // The whole is full: of both parts the one goes that can.
    expect([three.take(200), two.isCut]).toEqual([true, true]);
    expect([whole.held, whole.holders, right.holders]).toEqual([800, 2, 1]);
    one.holding?.close();
    expect([left.held, whole.held]).toEqual([0, 200]);
  });

  it.each([1, 2, 3, 4])("seed %i: sums are right, the most is kept, and only those go that may", (seed) => {
    const { below, oneIn, pick } = seededRandom(seed);
    const budget = new Budget(1_000, { holdersMax: 12 });
    const open = new Set<Body>();
    const heldBy = (owner: string): number =>
      [...open].filter((one) => one.owner === owner && !one.isCut).reduce((sum, one) => sum + one.held, 0);
    let cuts = 0;
    for (let step = 0; step < 4_000; step++) {
      const choice = open.size === 0 ? 0 : below(4);
      if (choice === 0) {
        const body = new Body(pick(["a", "b", "c", "d", "e"]), oneIn(3) ? null : below(5)).in(budget);
        if (body.holding !== undefined) open.add(body);
      } else if (choice === 1) {
        const body = pick([...open]);
        body.holding?.close();
        open.delete(body);
      } else {
        const body = pick([...open]);
        const amount = below(300);
        const before = new Map([...open].map((one) => [one, [one.held, heldBy(one.owner)] as const]));
        const [own] = before.get(body) ?? [0, 0];
        const taken = body.take(amount);
        expect(body.held).toBe(taken ? own + amount : own);
        expect(body.isCut).toBe(false);
        for (const [one, [, held]] of before) {
          if (!one.isCut) continue;
          cuts++;
          expect(one.rate).not.toBeNull();
          const wanted = heldBy(body.owner) + (taken ? 0 : amount);
          expect(one.owner === body.owner || held > wanted).toBe(true);
          // Of the one who asks, nothing goes that is faster than what was asked for.
          if (one.owner === body.owner && body.rate !== null) expect(one.rate ?? 0).toBeLessThanOrEqual(body.rate);
        }
        expect(taken || budget.held + amount > 875).toBe(true);
      }
      for (const one of open) if (one.isCut) open.delete(one);
      expect(budget.held).toBe([...open].reduce((sum, one) => sum + one.held, 0));
      expect(budget.holders).toBe(open.size);
      expect(budget.held).toBeLessThanOrEqual(1_000);
      expect(open.size).toBeLessThanOrEqual(12);
    }
    expect(cuts).toBeGreaterThan(50);
  });
});
