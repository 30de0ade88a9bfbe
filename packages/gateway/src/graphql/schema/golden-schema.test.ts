import { PRIMITIVE_DATA_TYPES } from "@shoal/model";
import { buildSchema, lexicographicSortSchema, printSchema, validateSchema } from "graphql";
import { expect, it } from "vitest";
import { DEFAULT_GRAPHQL_LIMITS } from "../limits.js";
import { buildGraphQlSchema } from "../testing/build-schema.js";
import { libraryClass, property } from "../testing/library.js";

/** Every data type, references to one class, to several, to itself, to one that is gone; and a class of nothing. */
const CLASSES = [
  libraryClass("Everything", [
    ...PRIMITIVE_DATA_TYPES.map((type) => property(type.replace("[]", "List"), type)),
    property("ofCity", "City"),
    property("ofAny", "Country", "Gone", "Everything"),
    property("ofGone", "Gone"),
    { ...property("snake_case_9", "text"), description: "Described." },
    property("meta", "int"),
  ]),
  libraryClass("City", [property("name", "string"), property("inCountry", "Country")]),
  { ...libraryClass("Country", [property("located", "geoCoordinates")]), description: "A country." },
  libraryClass("Empty", null),
];

it("is what golden-schema.txt says", async () => {
  const { schema, skipped } = buildGraphQlSchema(CLASSES, DEFAULT_GRAPHQL_LIMITS);
  expect(skipped).toEqual([]);
  const spec = schema === undefined ? "" : `${printSchema(lexicographicSortSchema(schema))}\n`;
  // The schema itself is not checked when it is built.
  expect(validateSchema(buildSchema(spec))).toEqual([]);
  // `npx vitest run -u=all <this file>` writes it anew.
  await expect(spec).toMatchFileSnapshot("golden-schema.txt");
});
