import type { WireProfile } from "@shoal/model";
import type { EnabledModules } from "@shoal/module-api";
import {
  BATCH_OBJECTS_BODY,
  BATCH_OBJECTS_RESPONSE,
  OBJECT_BODY,
  OBJECT_LIST,
  STORED_OBJECT,
  WRITTEN_OBJECT,
} from "./object-schemas.js";
import { type DescribedBody, type Operation, operation } from "./operation.js";
import { objectListQuery, objectQuery } from "./parameters.js";

const ID = "36ddd591-2dee-4e7e-a3cc-eb86d30a4303";
const ARTICLE = { class: "Article", properties: { title: "On vectors", wordCount: 2_100 }, vector: [0.12, -0.3, 0.98] };
const STORED = {
  class: "Article",
  creationTimeUnix: 1_795_149_275_787,
  id: ID,
  lastUpdateTimeUnix: 1_795_149_275_787,
  properties: ARTICLE.properties,
  vectorWeights: null,
};
const { vectorWeights, ...WRITTEN } = { ...STORED, vector: ARTICLE.vector };

const GONE = { description: "No object has this id." };

/** The operations on objects (specification, "Objects" and "Batch"). */
export function objectOperations(
  { putObjectReturnsObject, notFoundHasBody }: Pick<WireProfile, "putObjectReturnsObject" | "notFoundHasBody">,
  modules: EnabledModules,
): readonly Operation[] {
  const one = "/v1/objects/{id}";
  const body: DescribedBody = {
    schema: OBJECT_BODY,
    examples: { "with an id": { ...ARTICLE, id: ID }, "without an id": ARTICLE },
  };
  const object = { description: "The object.", schema: STORED_OBJECT, example: STORED };
  const written = { description: "What was stored.", schema: WRITTEN_OBJECT, example: WRITTEN };
  const notFound = { ...GONE, isEmpty: !notFoundHasBody };
  const malformedInclude = { description: "`include` has a word that is not known." };
  return [
    operation("GET", "/v1/objects", "objects", "listObjects", "List objects", {
      description:
        "A page of objects. Without `after`, the newest come first. With `class` and `after`, they come in the order of " +
        "their ids, which is how to read a whole class.",
      query: objectListQuery(modules),
      responses: {
        200: {
          description: "The page.",
          schema: OBJECT_LIST,
          example: { deprecations: null, objects: [STORED], totalResults: 1 },
        },
        400: malformedInclude,
        413: { description: "The page takes more than `ANSWER_BYTES_MAX`." },
        422: { description: "A parameter is not of its type, or the page lies beyond `QUERY_MAXIMUM_RESULTS`." },
      },
    }),
    operation("POST", "/v1/objects", "objects", "createObject", "Create an object", {
      description: "Classes and properties that do not exist yet are made, unless `AUTOSCHEMA_ENABLED` is `false`.",
      body,
      responses: { 200: written, 422: { description: "The object is not valid, or its id is taken." } },
    }),
    operation("POST", "/v1/objects/validate", "objects", "validateObject", "Check an object without storing it", {
      body,
      responses: { 200: { description: "It is valid." }, 422: { description: "It is not; the message says why." } },
    }),
    operation("GET", one, "objects", "getObject", "Read an object", {
      query: objectQuery(modules),
      responses: { 200: object, 400: malformedInclude, 404: notFound, 422: { description: "The id is no uuid." } },
    }),
    operation("HEAD", one, "objects", "objectExists", "Whether an object exists", {
      responses: { 204: { description: "It exists." }, 404: notFound, 422: { description: "The id is no uuid." } },
    }),
    operation("PUT", one, "objects", "replaceObject", "Replace an object", {
      description: "Properties that are left out are gone. The class stays, and so does the creation time.",
      body,
      responses: {
        ...(putObjectReturnsObject ? { 200: written } : { 204: { description: "It is replaced." } }),
        404: GONE,
        422: { description: "The object is not valid." },
      },
    }),
    operation("PATCH", one, "objects", "mergeObject", "Change properties of an object", {
      description: "What is left out stays as it is; null clears a property.",
      body,
      responses: {
        204: { description: "It is changed." },
        422: { description: "The change is not valid, or no object has this id." },
      },
    }),
    operation("DELETE", one, "objects", "deleteObject", "Delete an object", {
      description: "References to it stay where they are.",
      responses: { 204: { description: "It is gone." }, 404: notFound, 422: { description: "The id is no uuid." } },
    }),
    operation("GET", "/v1/{id:uuid}", "objects", "getObjectByBeacon", "Read the object of a beacon", {
      query: objectQuery(modules),
      responses: { 200: object, 400: malformedInclude, 404: notFound },
    }),
    operation("POST", "/v1/batch/objects", "batch", "importObjects", "Import objects", {
      description: "Objects whose id exists are replaced. Failed items are only told by their results.",
      body: {
        schema: BATCH_OBJECTS_BODY,
        examples: { "two objects": { objects: [{ ...ARTICLE, id: ID }, ARTICLE] } },
      },
      responses: {
        200: {
          description: "The results.",
          schema: BATCH_OBJECTS_RESPONSE,
          example: [{ ...WRITTEN, deprecations: null, result: {} }],
        },
        422: { description: "The list is empty, or an id is no uuid." },
      },
    }),
  ];
}
