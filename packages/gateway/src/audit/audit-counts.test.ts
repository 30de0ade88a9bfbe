import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { AuditCounts, type CountedEvents } from "./audit-counts.js";
import type { AuditFields } from "./audit-line.js";

const fields = (action: string) => (): AuditFields => ({ action, outcome: "denied" });
const outcome = "denied";

const event = (owner: string, kind: string, address?: string, describe = fields(kind)) => ({
  owner,
  kind: `${owner} ${kind}`,
  ...({ address, outcome, describe } as const),
  describeOwner: () => ({ user: owner }),
});

const sum = (taken: readonly CountedEvents[]): number => taken.reduce((all, { requests }) => all + requests, 0);

describe("counts of events", () => {
  it("are one for each kind, and are taken in the order of their first events", () => {
    const counts = new AuditCounts();
    counts.of(event("o", "a", "x"), 1).requests++;
    counts.of(event("o", "b", "y"), 2).requests++;
    counts.of(event("o", "a", "x", fields("never asked")), 3).requests++;
    expect(
      counts.take().map(({ fields, requests, firstMs, lastMs }) => [fields.action, requests, firstMs, lastMs]),
    ).toEqual([
      ["a", 2, 1, 3],
      ["b", 1, 2, 2],
    ]);
    expect(counts.isEmpty).toBe(true);
  });

  it("of one address are taken without those of others, but with those of no address", () => {
    const counts = new AuditCounts();
    for (const address of ["x", "y", undefined]) counts.of(event("o", String(address), address), 1);
    expect(counts.take("x").map(({ fields }) => fields.action)).toEqual(["x", "undefined"]);
    expect(counts.take().map(({ fields }) => fields.action)).toEqual(["y"]);
  });

  it("do not become more than there may be, whatever strangers think of", () => {
    const counts = new AuditCounts(3);
    for (let i = 0; i < 1_000; i++) counts.of(event("", `${i}`, `address ${i}`), i).requests++;
    const taken = counts.take();
    expect(taken.length).toBe(4);
    expect(sum(taken)).toBe(1_000);
    expect(taken.at(-1)?.fields).toEqual({ action: "others", outcome: "denied", user: "" });
  });

  it("of an owner beyond his part are not described, nor is he more than once", () => {
    const counts = new AuditCounts(3);
    let [described, named] = [0, 0];
    for (let i = 0; i < 1_000; i++) {
      const describe = (): AuditFields => {
        described++;
        return { action: `${i}`, outcome: "denied", user: "eve" };
      };
      const describeOwner = () => {
        named++;
        return { user: "eve" };
      };
      counts.of({ ...event("eve", `${i}`, `address ${i}`), describe, describeOwner }, i).requests++;
    }
    expect([described, named]).toEqual([3, 1]);
    const taken = counts.take("address 1");
    expect(taken.map(({ fields, requests }) => [fields.action, fields.user, requests])).toEqual([
      ["1", "eve", 1],
      ["others", "eve", 997],
    ]);
    expect(counts.take().length).toBe(2);
  });

  it("of an owner name what they are about, however many kinds another one has made", () => {
    const counts = new AuditCounts(100);
    for (let i = 0; i < 1_000; i++) counts.of(event("flood", `${i}`, "x"), i).requests++;
    for (let i = 0; i < 50; i++) counts.of(event("ada", `ada ${i}`, "y"), i).requests++;
    for (let i = 0; i < 20; i++) counts.of(event("bob", `bob ${i}`, "x"), i).requests++;
    const taken = counts.take();
    const of = (owner: string) => taken.filter((one) => one.owner === owner).map((one) => one.fields.action);
    expect(of("ada")).toEqual(Array.from({ length: 50 }, (_, i) => `ada ${i}`));
    expect(of("bob")).toEqual(Array.from({ length: 20 }, (_, i) => `bob ${i}`));
    expect(of("flood").length).toBe(101);
    expect(sum(taken)).toBe(1_070);
  });

  it("name every owner and lose no event, in any order, within their bound", () => {
    const [kindsMax, ownersMax] = [40, 25];
    const most = Array.from({ length: ownersMax }, (_, i) => Math.max(1, kindsMax / (i + 1)) + 1);
    const bound = most.reduce((all, one) => all + one, 0);
    for (let seed = 1; seed <= 20; seed++) {
      const { below, oneIn } = seededRandom(seed);
      const counts = new AuditCounts(kindsMax, ownersMax);
      const done = new Map<string, number>();
      const reported = new Map<string, number>();
      const tell = (taken: readonly CountedEvents[]): void => {
        expect(taken.length).toBeLessThanOrEqual(bound);
        for (const { owner, requests } of taken) reported.set(owner, (reported.get(owner) ?? 0) + requests);
      };
      for (let i = 0; i < 3_000; i++) {
        const owner = `o${below(40)}`;
        const chosen = event(owner, `${below(60)}`, `a${below(5)}`);
        if (!counts.hasRoomFor(owner)) tell(counts.take());
        counts.of(chosen, i).requests++;
        done.set(owner, (done.get(owner) ?? 0) + 1);
        if (oneIn(100)) tell(counts.take(`a${below(5)}`));
      }
      tell(counts.take());
      expect(reported).toEqual(done);
      expect([counts.isEmpty, counts.hasRoomFor("new")]).toEqual([true, true]);
    }
  });
});
