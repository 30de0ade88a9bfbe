import { expect, it } from "vitest";
import { CLIENT_PHRASES } from "./client-phrases.js";

// Not a copy for its own sake: whoever rewords a phrase is to meet the programs that read it (docs/decisions/0079).
it("the phrases that clients look for are as they were published", () => {
  expect([
    CLIENT_PHRASES.idAlreadyExists("x"),
    CLIENT_PHRASES.noGraphqlProvider,
    CLIENT_PHRASES.classNotFound("Foo"),
    CLIENT_PHRASES.classNameTaken("Foo"),
    CLIENT_PHRASES.propertyNameTaken("body", "Foo", "Name"),
    CLIENT_PHRASES.tooManyResults,
    CLIENT_PHRASES.propertyNotFound("P", "C"),
    CLIENT_PHRASES.vectorLengths(3, 4),
    CLIENT_PHRASES.immutable("vectorizer"),
  ]).toEqual([
    "id 'x' already exists",
    "no graphql provider present, this is most likely because no schema is present. Import a schema first!",
    "could not find class 'Foo'",
    "Name 'Foo' already used as a name for an Object class",
    "Name 'body' already in use as a property name for class 'Foo'",
    "query maximum results exceeded",
    "no such prop with name 'P' found in class 'C' in the schema",
    "vector lengths don't match: 3 vs 4",
    "vectorizer is immutable",
  ]);
});
