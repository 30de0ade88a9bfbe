import { expect, it } from "vitest";
import { findMembers } from "./find-members.js";

const NAMES = ["a", "title", "b"];

function find(json: string): (string | undefined)[] {
  const bytes = Buffer.from(json);
  const spans = new Int32Array(6).fill(9);
  findMembers(
    bytes,
    0,
    NAMES.map((name) => Buffer.from(name)),
    spans,
  );
  return NAMES.map((_, i) => {
    const [start = -1, end = -1] = [spans[i * 2], spans[i * 2 + 1]];
    return start < 0 ? undefined : bytes.subarray(start, end).toString();
  });
}

it("finds values of every kind", () => {
  expect(find("{}")).toEqual([undefined, undefined, undefined]);
  expect(find('{"a":1,"b":null,"title":"x"}')).toEqual(["1", '"x"', "null"]);
  expect(find(' { "a" : -1.5e+3 ,\n"b":true, "title" : [1,{"a":"]}"}] } ')).toEqual([
    "-1.5e+3",
    '[1,{"a":"]}"}]',
    "true",
  ]);
  expect(find('{"x":{"a":1},"y":["a",1],"a":{"b":2}}')).toEqual(['{"b":2}', undefined, undefined]);
  expect(find('{"a":1,"a":2}')).toEqual(["2", undefined, undefined]);
});

it("finds the end of strings of every length, with and without escapes", () => {
  for (let length = 0; length < 120; length++) {
    for (const tail of ["", "\\", '"', '\\"', '\\\\"', "\\\\", "ü\\"]) {
      const text = "\\".repeat(length % 7) + "x".repeat(length) + tail;
      const json = JSON.stringify({ x: text, title: text, b: 5 });
      expect(find(json)).toEqual([undefined, JSON.stringify(text), "5"]);
    }
  }
});

it("says that bytes are damaged, whatever is missing", () => {
  const json = '{"a":[1,{"x":"\\""}],"title":"ab","b":5}';
  for (let length = 0; length < json.length; length++) {
    expect(() => find(json.slice(0, length)), json.slice(0, length)).toThrow("no JSON object");
  }
  for (const text of ["[]", "5", '{"a"}', '{"a":}', "{a:1}", '{"a":1,}', '{"a":1 "b":2}']) {
    expect(() => find(text), text).toThrow("no JSON object");
  }
});
