import { expect, test } from "vitest";
import { groupText } from "./group-text.js";
import { compareUtf8 } from "./utf8-order.js";

test.each<[string | number | boolean, string]>([
  [1, "1"],
  [2.5, "2.5"],
  [0, "0"],
  [-7, "-7"],
  [100_000, "100000"],
  [123_456.75, "123456.75"],
  [999_999, "999999"],
  [999_999.9999999999, "999999.9999999999"],
  [0.00009999999999999999, "9.999999999999999e-05"],
  [1_000_000, "1e+06"],
  [-1_234_567, "-1.234567e+06"],
  [2 ** 53, "9.007199254740992e+15"],
  [0.0001, "0.0001"],
  [0.00012, "0.00012"],
  [0.00001, "1e-05"],
  [1.5e-7, "1.5e-07"],
  [1e21, "1e+21"],
  [Number.MAX_VALUE, "1.7976931348623157e+308"],
  [Number.MIN_VALUE, "5e-324"],
  [true, "true"],
  [false, "false"],
  ["as it is", "as it is"],
])("%s is '%s' as a group's value", (value, text) => {
  expect(groupText(value)).toBe(text);
});

test("texts order as their UTF-8 bytes do", () => {
  const texts = [
    "",
    "a",
    "ab",
    "b",
    "Z",
    "é",
    "\u{d7ff}",
    "\u{e000}",
    "\u{ffff}",
    "\u{10000}",
    "\u{10ffff}",
    "a\u{1f600}",
  ];
  for (const a of texts) {
    for (const b of texts) {
      expect(Math.sign(compareUtf8(a, b)), `${a} ${b}`).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }
  }
});
