import { ShoalError } from "./errors/shoal-error.js";

/**
 * The points on which the specification and the client libraries in the field cannot both be served. Chosen once at
 * start-up; everybody reads the field that he needs and nobody asks which profile is on.
 */
export interface WireProfile {
  /** Scheme of beacons in responses and in storage. Any scheme is read. */
  readonly beaconScheme: "svc" | "weaviate";
  /** `PUT /v1/objects/{id}`: true responses 200 with the object, false 204 without a body. */
  readonly putObjectReturnsObject: boolean;
  /**
   * 404 of an object, class, classification or openid-configuration that is not there: true has the error body, false has
   * none. The Java client takes any body for an error, and fails where nothing was to be found.
   */
  readonly notFoundHasBody: boolean;
  /** `POST` and `PUT` of a reference. Both have no body. */
  readonly referenceWriteStatus: 200 | 204;
  /** GraphQL answers without errors: true has `"errors": null`, false leaves the key out. */
  readonly graphqlErrorsNullWhenNone: boolean;
  /** What `PATCH` does with a reference property. */
  readonly patchReferences: "replace" | "append";
  /** True: a class created without `properties` is shown with null instead of an empty list. */
  readonly absentPropertiesAreNull: boolean;
  readonly vectorCacheMaxObjectsDefault: number;
  /**
   * knn result without a losing group: true shows the three losing members as 0, together with `winningDistance` and
   * `losingDistance`; false leaves all five out.
   */
  readonly knnLosingMembersAlways: boolean;
  /** An object's `classification.basedOn`: true names the property, false is null. */
  readonly classificationBasedOnNamed: boolean;
  /** Text of a GraphQL syntax error: graphql-js's own, or the reference's (reference-graphql 1.2). */
  readonly graphqlSyntaxErrorText: "graphql-js" | "reference";
}

export const SPEC_PROFILE: WireProfile = Object.freeze({
  beaconScheme: "svc",
  putObjectReturnsObject: false,
  notFoundHasBody: true,
  referenceWriteStatus: 204,
  graphqlErrorsNullWhenNone: true,
  patchReferences: "replace",
  absentPropertiesAreNull: false,
  vectorCacheMaxObjectsDefault: 500_000,
  knnLosingMembersAlways: false,
  classificationBasedOnNamed: true,
  graphqlSyntaxErrorText: "graphql-js",
});

export const WEAVIATE_PROFILE: WireProfile = Object.freeze({
  beaconScheme: "weaviate",
  putObjectReturnsObject: true,
  notFoundHasBody: false,
  referenceWriteStatus: 200,
  graphqlErrorsNullWhenNone: false,
  patchReferences: "append",
  absentPropertiesAreNull: true,
  vectorCacheMaxObjectsDefault: 2_000_000,
  knnLosingMembersAlways: true,
  classificationBasedOnNamed: false,
  graphqlSyntaxErrorText: "reference",
});

/** The profile that the setting `WIRE_PROFILE` names; fails with `invalid` on any other name. */
export function wireProfile(name: string): WireProfile {
  if (name === "spec") return SPEC_PROFILE;
  if (name === "weaviate") return WEAVIATE_PROFILE;
  throw new ShoalError("invalid", `WIRE_PROFILE must be 'spec' or 'weaviate', got '${name}'`);
}
