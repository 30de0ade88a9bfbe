import { SPEC_PROFILE, WEAVIATE_PROFILE } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { library } from "../testing/ask-library.js";
import { LIBRARY_OBJECTS } from "../testing/library.js";

const FIRST = LIBRARY_OBJECTS.Book?.[0]?.id;

describe.each([{ prepareQueries: true }, { prepareQueries: false }])("Explore (%o)", (way) => {
  it("answers beacons in the profile's scheme, class names and certainties", async () => {
    for (const wire of [SPEC_PROFILE, WEAVIATE_PROFILE]) {
      const { ask } = library({ ...way, wire });
      const { data } = await ask("{ Explore(nearVector: {vector: [1, 2]}, limit: 3) { beacon className certainty } }");
      expect(data.Explore).toEqual([
        { beacon: `${wire.beaconScheme}://localhost/${FIRST}`, className: "Book", certainty: 1 },
        {
          beacon: `${wire.beaconScheme}://localhost/${LIBRARY_OBJECTS.Book?.[1]?.id}`,
          className: "Book",
          certainty: 0.5,
        },
        {
          beacon: `${wire.beaconScheme}://localhost/${LIBRARY_OBJECTS.Book?.[2]?.id}`,
          className: "Book",
          certainty: null,
        },
      ]);
    }
  });

  it("hands the arguments to the query, as literals and as variables", async () => {
    const { ask, query } = library(way);
    const id = "01010101-0101-0101-0101-010101010101";
    await ask(
      "{ a: Explore(nearVector: {vector: [0.5], certainty: 0.25}, limit: 0, offset: 7) { c: className __typename } }",
    );
    await ask("{ a: Explore(nearVector: {vector: [0.5, 2], certainty: 0.25}, offset: 7, limit: 4) { className } }");
    await ask("query($v: [Float]!, $n: Int) { Explore(nearVector: {vector: $v}, limit: $n) { certainty } }", {
      v: [0.5, 2],
      n: 5,
    });
    await ask(`{ Explore(nearObject: {id: "${id}", beacon: "x", certainty: 1}) { beacon } __typename }`);
    const nothing = { limit: undefined, offset: undefined, nearVector: undefined, nearObject: undefined };
    expect(query.asked).toEqual([
      { ...nothing, limit: 0, offset: 7, nearVector: { vector: Float32Array.of(0.5), certainty: 0.25 } },
      { ...nothing, limit: 4, offset: 7, nearVector: { vector: Float32Array.of(0.5, 2), certainty: 0.25 } },
      { ...nothing, limit: 5, nearVector: { vector: Float32Array.of(0.5, 2), certainty: undefined } },
      { ...nothing, nearObject: { id, beacon: "x", certainty: 1 } },
    ]);
  });

  it("gives null and an error when it fails", async () => {
    const { ask } = library(way);
    const response = await ask("{ Explore { beacon }  b: Explore(nearVector: {vector: [1]}) { beacon } }");
    expect(response).toEqual({
      data: { Explore: null, b: null },
      errors: [
        {
          locations: [{ column: 3, line: 1 }],
          message: "invalid params: received no search params",
          path: ["Explore"],
        },
        { locations: [{ column: 23, line: 1 }], message: "node 'n1' of shard 'S' is away", path: ["b"] },
      ],
    });
    const large = await ask("{ Explore(nearVector: {vector: [1, 1e39]}) { beacon } }");
    expect(large.errors[0].message).toBe("nearVector.vector[1] is beyond the range of float32: 1e+39");
  });

  it.each([
    ["{ Explore(where: {}) { beacon } }", 'Unknown argument "where" on field "Explore" of type "WeaviateObj".'],
    ["{ Explore { id } }", 'Cannot query field "id" on type "ExploreObj".'],
    ["{ Explore }", 'Field "Explore" of type "[ExploreObj]" must have a sub selection.'],
    ["{ Explore(nearVector: {}) { beacon } }", 'In field "vector": Expected "[Float]!", found null.'],
  ])("refuses %s", async (text, message) => {
    const { ask, query } = library(way);
    const response = await ask(text);
    expect(response.data).toBeUndefined();
    expect(response.errors[0].message).toContain(message);
    expect(query.asked).toEqual([]);
  });
});
