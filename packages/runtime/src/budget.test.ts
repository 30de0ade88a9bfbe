import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { Budget, type Holder, type Holding } from "./budget.js";

class Body implements Holder {
  readonly share;
  /** How many were looked at. */
  static looks = 0;
  isCut = false;
  holding: Holding | undefined;

  constructor(
    readonly owner: string,
    public rate: number | null = 1,
  ) {
    this.share = { owner, connection: 0 };
  }

  speed(): number | undefined {
    Body.looks++;
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

  it("S2: looks at few holders for each attempt, whether one owner has them all or each has its own", () => {
    for (const ownerOf of [() => "hog", (at: number) => `hog ${at % 100}`, (at: number) => `hog ${at}`]) {
      const budget = new Budget(50_000, { holdersMax: 5_000 });
      const bodies = Array.from({ length: 5_000 }, (_, at) => new Body(ownerOf(at), 2).in(budget));
      for (const body of bodies) body.take(8);
      Body.looks = 0;
      // One that is as slow and one that is faster, by number and by amount.
      for (let at = 0; at < 500; at++) {
        const [, fast] = [new Body("hog", 2).in(budget), new Body("hog", 3).in(budget)];
        fast.take(20);
        bodies[at]?.take(1);
      }
      if (ownerOf(0) === ownerOf(100)) expect(bodies.some(({ isCut }) => isCut)).toBe(true);
      expect(Body.looks).toBeLessThan(100 * 2_000);
    }
  });

  it("S2: of many cuts one that has come to stall after a tick, and does not keep what has gone", () => {
    const budget = new Budget(50_000, { holdersMax: 5_000 });
    const bodies = Array.from({ length: 5_000 }, () => new Body("hog", 2).in(budget));
    expect(new Body("hog", 2).in(budget).holding).toBeUndefined();
    const stalled = bodies[4_321] as Body;
    stalled.rate = 0;
    budget.tick();
    expect(new Body("hog", 2).in(budget).holding).toBeDefined();
    expect([stalled.isCut, bodies.filter(({ isCut }) => isCut).length]).toEqual([true, 1]);
    for (const { holding } of bodies) holding?.close();
    expect([budget.holders, [...budget].length]).toEqual([1, 1]);
  });

  it.each([
    [1, 12],
    [2, 12],
    [3, 12],
    [4, 12],
    [5, 200],
    [6, 200],
  ])("seed %i: sums are right, the most of %i holders is kept, and only those go that may", (seed, holdersMax) => {
    const { below, oneIn, pick } = seededRandom(seed);
    const budget = new Budget(1_000, { holdersMax });
    const open = new Set<Body>();
    const heldBy = (owner: string): number =>
      [...open].filter((one) => one.owner === owner && !one.isCut).reduce((sum, one) => sum + one.held, 0);
    let cuts = 0;
    for (let step = 0; step < 4_000; step++) {
      const choice = open.size === 0 || (holdersMax > 12 && oneIn(2)) ? 0 : below(4);
      if (oneIn(50)) budget.tick();
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
      expect(open.size).toBeLessThanOrEqual(holdersMax);
    }
    expect(cuts).toBeGreaterThan(holdersMax > 12 ? 10 : 50);
  });
});
