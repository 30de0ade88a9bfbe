import { expect, test } from "vitest";
import { changesOf } from "./copy-changes.js";

const line = (time: number, version: number, primary: number, inSync: readonly number[], shard = "s0"): string => {
  const copies = inSync.map((node) => `storage-${node}/x`);
  const told = { time, class: "Car", classId: "c1", shard, version, primary: `storage-${primary}/x`, inSync: copies };
  return JSON.stringify({ level: "info", ...told, msg: "copies of a shard" });
};
const logOf = (...lines: readonly string[]): string => ["{}", ...lines, ""].join("\n");
const losersOf = (...logs: readonly string[]) => changesOf(logs).map(({ timeMs, losers }) => [timeMs, losers]);

test("who is taken out loses; a change that several nodes log counts once, from when the first one does", () => {
  const one = logOf(line(10, 1, 0, [0, 1, 2]), line(31, 2, 0, [0, 1]), line(50, 3, 0, [0, 1, 2]));
  const other = logOf(line(11, 1, 0, [0, 1, 2]), line(30, 2, 0, [0, 1]));
  expect(losersOf(one, other)).toEqual([[30, ["storage-2"]]]);
});

test("of a new primary the old one loses, whoever else is left behind", () => {
  expect(losersOf(logOf(line(10, 4, 0, [0, 1, 2]), line(20, 5, 1, [1])))).toEqual([[20, ["storage-0"]]]);
});

test("shards are kept apart; what a node learns late it has not missed", () => {
  const one = logOf(line(10, 1, 0, [0, 1]), line(20, 3, 1, [1, 2], "s1"));
  expect(losersOf(one, logOf(line(12, 2, 0, [0, 1]), line(15, 2, 2, [1, 2], "s1")))).toEqual([[20, ["storage-2"]]]);
});
