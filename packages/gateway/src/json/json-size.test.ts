import { expect, it } from "vitest";
import { BATCH_BODY, ITEM_BYTES_MAX, ONE_BODY } from "./json-size.js";
import { parseJson, scanJson } from "./parse-json.js";

const repeated = (count: number, item: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => item(at)).join(",");
const members = (count: number): string => `{${repeated(count, (at) => `"name${at}":1`)}}`;

it("refuses more members than one body may have, wherever they are", () => {
  expect(() => parseJson(Buffer.from(members(50_000)))).not.toThrow();
  const message = "the request body has more than 50000 members";
  expect(() => parseJson(Buffer.from(members(50_001)))).toThrow(message);
  const spread = `[${repeated(50_001, (at) => `{"name${at}" \n: 1}`)}]`;
  expect(() => parseJson(Buffer.from(spread))).toThrow(message);
  expect(() => scanJson(Buffer.from(spread), BATCH_BODY)).not.toThrow();
});

it("refuses more objects and lists than one body may have", () => {
  const lists = (count: number): string => `[${repeated(count - 1, () => "{}")}]`;
  expect(() => parseJson(Buffer.from(lists(200_000)))).not.toThrow();
  expect(() => parseJson(Buffer.from(lists(200_001)))).toThrow(
    "the request body has more than 200000 objects and lists",
  );
});

it("does not count what stands in strings", () => {
  const text = `{"text":"${'{[:\\"'.repeat(300_000)}","other":1}`;
  expect(() => scanJson(Buffer.from(text), ONE_BODY)).not.toThrow();
  expect(() => scanJson(Buffer.from(`{"open":"${":".repeat(300_000)}`), ONE_BODY)).not.toThrow();
});

it("leaves the largest batch alone", () => {
  const object = '{"class":"Car","id":"x","properties":{"a":1,"b":2,"c":3,"d":4,"e":5},"vector":[1,2]}';
  const batch = `{"objects":[${repeated(100_000, () => object)}]}`;
  expect(() => scanJson(Buffer.from(batch), BATCH_BODY)).not.toThrow();
});

it("refuses what is too long to be parsed in one go", () => {
  const body = (length: number): Buffer => Buffer.from(`"${"x".repeat(length - 2)}"`);
  expect(() => parseJson(body(ITEM_BYTES_MAX))).not.toThrow();
  expect(() => parseJson(body(ITEM_BYTES_MAX + 1))).toThrow(
    "the request body has 16777217 bytes, at most 16777216 are parsed in one go",
  );
});
