import { describe, expect, it } from "vitest";
import { type Route, readRoute, writeRoute } from "./route.js";

const U = "11111111-1111-1111-1111-11111111abcd";

const ROUTES: readonly Route[] = [
  { view: "query" },
  { view: "query", shared: { query: "{ Get { Ä(limit: 1) { a } } } # & = ? +", variables: '{"a": "%"}' } },
  { view: "query", shared: { query: "{ a }", variables: "" } },
  { view: "classes" },
  { view: "classes", className: "Ar/ti cle" },
  { view: "object", id: U },
];

describe("routes", () => {
  it.each(ROUTES)("%j survives the address", (route) => {
    expect(readRoute(writeRoute(route))).toEqual(route);
  });

  it.each(["", "#", "#/", "#/nothing", "#/objects/", "#/objects/no-uuid", "#//evil.example", "#/classesx"])(
    "%j is the query view",
    (fragment) => {
      expect(readRoute(fragment)).toEqual({ view: "query" });
    },
  );

  it("bad percent-encoding names no class", () => {
    expect(readRoute("#/classes/%zz")).toEqual({ view: "classes" });
  });

  it("ids are in lower case", () => {
    expect(readRoute(`#/objects/${U.toUpperCase()}`)).toEqual({ view: "object", id: U });
  });
});
