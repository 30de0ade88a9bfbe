import { SPEC_PROFILE, WEAVIATE_PROFILE, type WireProfile } from "@shoal/model";

/** What a client sees of a field, and of a value of it. */
interface Point<Value> {
  readonly point: string;
  readonly shown: (value: Value) => string;
}

/** Total: a field that the profile gets does not compile until it has a row. */
const POINTS: { readonly [Field in keyof WireProfile]: Point<WireProfile[Field]> } = {
  beaconScheme: {
    point: "beacons in responses (any scheme is read)",
    shown: (scheme) => `\`${scheme}://localhost/…\``,
  },
  putObjectReturnsObject: {
    point: "`PUT /v1/objects/{id}`",
    shown: (hasObject) => (hasObject ? "200, the object" : "204, no body"),
  },
  notFoundHasBody: {
    point: "404 of an object, class, classification or `openid-configuration` that is not there",
    shown: (hasBody) => (hasBody ? "the error body" : "no body"),
  },
  referenceWriteStatus: {
    point: "`POST` and `PUT` of a reference",
    shown: (status) => `${status}, no body`,
  },
  graphqlErrorsNullWhenNone: {
    point: "GraphQL response without errors",
    shown: (isNull) => (isNull ? '`"errors": null`' : "no member `errors`"),
  },
  patchReferences: {
    point: "`PATCH` of a reference property",
    shown: (effect) => (effect === "append" ? "appends to the list" : "replaces the list"),
  },
  absentPropertiesAreNull: {
    point: "a class that was created without `properties` is shown with",
    shown: (isNull) => (isNull ? "`null`" : "`[]`"),
  },
  vectorCacheMaxObjectsDefault: {
    point: "default of `vectorCacheMaxObjects` of a new class",
    shown: String,
  },
  knnLosingMembersAlways: {
    point: "`knn` result without a losing group",
    shown: (always) =>
      always
        ? "the three losing members are 0, others that are 0 are absent; `winningDistance` and `losingDistance` are there"
        : "all five members are absent, others that are 0 are there",
  },
  classificationBasedOnNamed: {
    point: "`classification.basedOn` of an object",
    shown: (isNamed) => (isNamed ? "the property's name" : "`null`"),
  },
  graphqlSyntaxErrorText: {
    point: "text of a GraphQL syntax error",
    shown: (text) => (text === "reference" ? "as Weaviate words it" : "as graphql-js words it"),
  },
};

const HEAD = `# Wire profiles

<!-- Made from WireProfile in packages/model/src/wire-profile.ts; \`npx vitest run scripts/readme.test.ts --update\` updates it. -->

On a few points Shoal cannot serve both the specified interface and the clients in the field. \`WIRE_PROFILE\`
chooses: \`weaviate\`, the default, responds as the clients that applications use today expect; \`spec\` follows the letter of the
specification. These are all the differences. The profile may be changed at any start: stored data serves both, beacons are
shown in the profile's scheme, and classes keep the settings that they were created with.

| point | \`weaviate\` | \`spec\` |
|---|---|---|
`;

/** `deploy/WIRE_PROFILES.md`: every point on which the profiles differ. */
export function wireProfilesPage(): string {
  const fields = Object.keys(POINTS) as (keyof WireProfile)[];
  return HEAD + fields.map((field) => `${row(field)}\n`).join("");
}

function row<Field extends keyof WireProfile>(field: Field): string {
  const { point, shown }: Point<WireProfile[Field]> = POINTS[field];
  return `| ${point} | ${shown(WEAVIATE_PROFILE[field])} | ${shown(SPEC_PROFILE[field])} |`;
}
