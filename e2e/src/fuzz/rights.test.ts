import { expect, it } from "vitest";
import type { FuzzRequest } from "./odd-requests.js";
import { actionOf, allows, namedClass } from "./rights.js";

it("S-roles: what the fuzzer holds a right to be", () => {
  const some = [
    { action: "read_data", data: { collection: "FuzzA" } },
    { action: "create_collections", collections: { collection: "Fuzz*" } },
    { action: "read_nodes", nodes: { verbosity: "verbose", collection: "Fuzz*" } },
  ];
  expect(allows(some, "read_data", undefined)).toBe(true);
  expect(allows(some, "read_data", "FuzzA")).toBe(true);
  expect(allows(some, "read_data", "FuzzAB")).toBe(false);
  expect(allows(some, "update_data", "FuzzA")).toBe(false);
  expect(allows(some, "create_collections", "FuzzZ")).toBe(true);
  expect(allows(some, "create_collections", "Hidden")).toBe(false);
  expect(allows(some, "read_nodes", undefined)).toBe(true);
  expect(actionOf("GET", "/v1/meta")).toBeUndefined();
  expect(actionOf("DELETE", "/v1/objects/{id}/references/{property}")).toBe("update_data");
  expect(() => actionOf("GET", "/v1/new")).toThrow("GET /v1/new: say in");
});

it("S-roles: which class a request names", () => {
  const named = (path: string, target: string, body?: string) =>
    namedClass(path, { target, body: body === undefined ? undefined : Buffer.from(body) } as FuzzRequest);
  expect(named("/v1/schema/{class}", "/v1/schema/fuzz%41?class=x")).toBe("FuzzA");
  expect(named("/v1/objects", "/v1/objects?class=A&class=b")).toBe("B");
  expect(named("/v1/objects", "/v1/objects", '{"class":"a"}')).toBe("A");
  for (const body of ["{", "[]", '{"Class":"a"}', '{"class":"a","Class":"b"}', '{"class":1}', '{"class":""}']) {
    expect(named("/v1/objects", "/v1/objects", body), body).toBeUndefined();
  }
});
