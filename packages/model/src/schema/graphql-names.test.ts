import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.js";
import { WEAVIATE_PROFILE } from "../wire-profile.js";
import type { ClassSettings } from "./class-body.js";
import type { ClassDefinition } from "./class-definition.js";
import { NO_MODULES } from "./module-class-rules.js";
import { parseClass } from "./parse-class.js";

const settings: ClassSettings = {
  profile: WEAVIATE_PROFILE,
  defaultVectorizer: "none",
  nodeCount: 1,
  modules: NO_MODULES,
};

function parse(body: unknown, schema: readonly ClassDefinition[] = []) {
  return parseClass(body, schema, settings);
}

describe("GraphQL names", () => {
  const car = parse({ class: "Car", properties: [{ name: "at", dataType: ["geoCoordinates"] }] });
  const namesake = (name: string) => refusal(() => parse({ class: name }, [car]));

  it.each(["CarAdditional", "GetObjectsCarWhereInpObj", "AggregateCar", "AggregateCaratObj", "CaratGeoCoordinatesObj"])(
    "refuses a class %s beside Car, naming both",
    (name) => {
      expect(namesake(name)).toMatch(
        new RegExp(`^invalid: the GraphQL type '${name}' of class '${name}' would collide`),
      );
      expect(namesake(name)).toMatch(/with that of (property 'at' of )?class 'Car'$/);
      const first = parse({ class: name });
      const body = { class: "Car", properties: car.properties };
      expect(refusal(() => parse(body, [first]))).toContain(`would collide with that of class '${name}'`);
    },
  );

  it.each(["Beacon", "String", "GetObjectsObj", "ExploreObj"])("refuses the fixed type %s", (name) => {
    expect(namesake(name)).toBe(
      `invalid: the GraphQL type '${name}' of class '${name}' would collide with that of the GraphQL interface itself`,
    );
  });

  it("finds collisions between properties of two classes and of one class", () => {
    const first = parse({ class: "City", properties: [{ name: "namex", dataType: ["int"] }] });
    const second = { class: "Cityname", properties: [{ name: "x", dataType: ["int"] }] };
    expect(refusal(() => parse(second, [first]))).toBe(
      "invalid: the GraphQL type 'AggregateCitynamexObj' of property 'x' of class 'Cityname' would collide with that of property 'namex' of class 'City'",
    );
    const properties = [
      { name: "_a", dataType: ["geoCoordinates"] },
      { name: "_aGeoCoordinates", dataType: ["Car"] },
    ];
    expect(refusal(() => parse({ class: "Foo", properties }, [car]))).toBe(
      "invalid: the GraphQL type 'Foo_aGeoCoordinatesObj' of property '_aGeoCoordinates' of class 'Foo' would collide with that of property '_a' of class 'Foo'",
    );
  });

  it("lets ordinary neighbours be", () => {
    for (const name of ["Cars", "Carpet", "Query", "Mutation", "Get", "Additional", "CarObj"]) {
      expect(namesake(name)).toBe("accepted");
    }
  });
});
