import { type JsonObject, type ObjectId, type ObjectMerge, ShoalError } from "@shoal/model";
import { expect, test } from "vitest";
import { mergeRow } from "./merge-row.js";
import { prepareMerge } from "./prepare-merge.js";
import { encodeRow, RowView } from "./row.js";

const id = "36ddd591-2dee-4e7e-a3cc-eb86d30a4303" as ObjectId;
const NOTHING: ObjectMerge = { id, set: {}, clear: [], append: {}, remove: {}, vector: undefined };
const FIELDS = { properties: true, vector: true, extras: true };

function viewOf(bytes: Buffer): RowView {
  const view = RowView.of(bytes);
  if (view === undefined) throw new Error("no row");
  return view;
}

function merged(extras: JsonObject | undefined, merge: Partial<ObjectMerge>) {
  const extrasJson = extras && JSON.stringify(extras);
  const content = { propertiesJson: '{"a":1}', extrasJson, vector: Float32Array.of(1, 2) };
  const base = viewOf(encodeRow(content, { id, bytesMax: 10_000, bytesBefore: 0 }));
  const prepared = prepareMerge({ ...NOTHING, ...merge }, 10);
  if (prepared instanceof ShoalError) throw prepared;
  const object = viewOf(mergeRow(base, prepared, 10_000)).toObject(id, "Car", FIELDS);
  expect(object.vector).toEqual(Float32Array.of(1, 2));
  return { extras: object.extras, properties: Buffer.from(object.propertiesJson).toString() };
}

test("a merge replaces members of `additional` and leaves the others", () => {
  const additional = { classification: { id: "new" } };
  expect(merged(undefined, { additional }).extras).toEqual({ additional });
  expect(merged({ vectorWeights: { a: "1" } }, { additional }).extras).toEqual({
    vectorWeights: { a: "1" },
    additional,
  });
  const before = { additional: { classification: { id: "old", scope: ["x"] }, other: 7 } };
  expect(merged(before, { additional }).extras).toEqual({ additional: { ...additional, other: 7 } });
  expect(merged({ additional: [1] }, { additional }).extras).toEqual({ additional });
  expect(merged(before, { additional, set: { b: 2 } }).properties).toBe('{"a":1,"b":2}');
});

test("without `additional` a merge leaves extras as they are", () => {
  const before = { additional: { classification: { id: "old" } }, vectorWeights: {} };
  expect(merged(before, { set: { b: 2 } }).extras).toEqual(before);
  expect(merged(undefined, { set: { b: 2 } }).extras).toBeUndefined();
});

test("a merge of what must be empty is refused when it is not", () => {
  const merge = (list: object) => merged(undefined, { set: { a: 2 }, ...list }).properties;
  expect(merge({ ifEmpty: ["none", "toString"] })).toBe('{"a":2}');
  expect(merge({ ifEmpty: [] })).toBe('{"a":2}');
  const refused = expect.objectContaining({ code: "conflict", message: expect.stringContaining("property 'a'") });
  expect(() => merge({ ifEmpty: ["none", "a"] })).toThrow(refused);
});
