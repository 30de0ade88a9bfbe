import type { ObjectId, StoredObject } from "@shoal/model";
import { expect, it } from "vitest";
import { AnswerBudget } from "../../answer-budget.js";
import { PlainRow } from "./plain-row.js";
import { ReachedRows } from "./reached-rows.js";

const ID = "11111111-1111-1111-1111-111111111111" as ObjectId;
const OBJECT = { propertiesJson: Buffer.alloc(100), vector: new Float32Array(100) } as unknown as StoredObject;

function reached(share: string): ReachedRows {
  const answer = new AnswerBudget({ answerBytesMax: 2 ** 30, answersBytesMax: 2 ** 30 }).begin({});
  return new ReachedRows({ deadline: 1, share: { owner: share, connection: 1 } }, answer);
}

const rows = (count: number): readonly PlainRow[] =>
  Array.from({ length: count }, () => new PlainRow(ID, OBJECT, undefined, undefined));

it("hands out few rows at once", () => {
  const few = rows(50);
  expect(reached("a").rows(few)).toEqual(few);
});

it("S10: hands out many rows in turns, those of one client and of others in turn", async () => {
  const many = rows(5_000);
  const order: string[] = [];
  const told = (owner: string) => (row: unknown) => {
    expect(row).toBeInstanceOf(PlainRow);
    if (order.at(-1) !== owner) order.push(owner);
  };
  const [first, second] = ["a", "b"].map((owner) => ({ owner, handed: reached(owner).rows(many) }));
  await Promise.all(
    [first, second].flatMap(
      (one) => one?.handed.slice(1_000).map((row) => Promise.resolve(row).then(told(one.owner))) ?? [],
    ),
  );
  expect(order.length).toBeGreaterThan(8);
});
