import { expect, it } from "vitest";
import { messageOf, ServerError } from "./server-error.js";

it("reads the messages of an error body", () => {
  expect(messageOf(422, '{"error":[{"message":"a"},{"message":"b"}]}')).toBe("a; b");
});

it.each([
  ["", "status 502 without a message"],
  ["<html>Bad gateway</html>", "status 502 without a message"],
  ["upstream gone\n", "upstream gone"],
  ["null", "null"],
  ['{"error":"no list"}', '{"error":"no list"}'],
])("makes do with %j", (text, message) => {
  expect(messageOf(502, text)).toBe(message);
});

it("does not fill the page with somebody else's answer", () => {
  expect(messageOf(502, "x".repeat(10_000)).length).toBe(501);
});

it("names what the status means", () => {
  expect(new ServerError(403, "").title).toBe("You lack a permission");
  expect(new ServerError(418, "").title).toBe("The server answered with status 418");
});
