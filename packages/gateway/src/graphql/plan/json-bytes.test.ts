import { GraphQLError } from "graphql";
import { expect, it } from "vitest";
import { pathsOf } from "./failed-places.js";
import { JsonBytes } from "./json-bytes.js";

const ERROR = new GraphQLError("it failed");

it("S14: what failed is known where it is repeated, and found again by its path", () => {
  const out = new JsonBytes(1_000_000);
  out.ascii('{"data":[');
  const ends: (readonly [number, number])[] = [];
  for (let i = 0; i < 50; i++) {
    if (i > 0) out.byte(44);
    const start = out.length;
    out.ascii('{"a":');
    out.failed(ERROR);
    out.ascii("}");
    ends.push([start, out.length]);
  }
  for (const at of [3, 0, 49]) {
    out.byte(44);
    out.repeat(...(ends[at] as [number, number]));
  }
  out.ascii("]}");
  const places = out.failures.map(({ at }) => at);
  expect(places).toHaveLength(53);
  const step = pathsOf(out.written, places).next();
  const paths = step.done === true ? step.value : [];
  expect(paths).toEqual(Array.from({ length: 53 }, (_, i) => [String(i), "a"]));
  expect(JSON.parse(out.written.toString()).data).toEqual(Array.from({ length: 53 }, () => ({ a: null })));
});

it("S14: more than 10,000 failures are too many, also where they are repeated", () => {
  const out = new JsonBytes(1_000_000);
  for (let i = 0; i < 10_000; i++) out.failed(ERROR);
  expect(() => out.failed(ERROR)).toThrow("more than 10000 values of the answer have failed");
  expect(() => out.repeat(0, out.length)).toThrow("more than 10000");
  out.truncate(0);
  out.failed(ERROR);
  expect(out.failures).toHaveLength(1);
});
