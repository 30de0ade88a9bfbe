import { RequestWarnings } from "@shoal/model";
import { expect, it } from "vitest";
import { warningHeaders } from "./response-headers.js";

function headersOf(...names: readonly string[]): readonly string[] {
  const warnings = new RequestWarnings();
  for (const name of names) warnings.addUnknown("", name, () => ["vectorizer"]);
  return warningHeaders(warnings);
}

it("U1: a header a warning, nothing for none", () => {
  expect(headersOf()).toEqual([]);
  expect(headersOf("vectorizar", "x")).toEqual([
    ...["Warning", `299 - "'vectorizar' is unknown and was ignored, did you mean 'vectorizer'?"`],
    ...["Warning", `299 - "'x' is unknown and was ignored"`],
  ]);
});

it("U1: nothing that a name holds ends the string or the header", () => {
  const hostile = [
    '"',
    "\\",
    '\\"',
    "a\r\nSet-Cookie: a=b",
    "\u0000\u007f",
    "größe",
    "\u{1f600}",
    "\ud800",
    "x".repeat(9_999),
  ];
  for (const name of hostile) {
    const [header, value = ""] = headersOf(name);
    expect(header).toBe("Warning");
    expect(value).toMatch(/^299 - "(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"$/);
    expect(value.length).toBeLessThan(400);
  }
});

it("U1: a thousand names make nine headers", () => {
  const headers = headersOf(...Array.from({ length: 1_000 }, (_, at) => `name${at}`));
  expect(headers).toHaveLength(18);
  expect(headers.at(-1)).toBe('299 - "and 992 more of the kind"');
});
