/**
 * What clients look for in the messages of the reference, Weaviate: the one place where these words stand. They stay as they
 * are here, in both wire profiles; what stands around them, the advice above all, is ours (decisions 79 and 117). The table
 * lies in this package as all layers write errors: the shard, the coordinator, the gateway.
 *
 * Clients for TypeScript, Go and Java only show messages; those named here read them.
 */
export const CLIENT_PHRASES = {
  /** The Python client, versions 2 and 3: raises an exception of its own where it finds `already exists`. */
  idAlreadyExists: (id: string) => `id '${id}' already exists`,

  /** Importers and retrievers: nothing is there yet. */
  noGraphqlProvider:
    "no graphql provider present, this is most likely because no schema is present. Import a schema first!",

  /** The same ones. */
  classNotFound: (className: string) => `could not find class '${className}'`,

  /** Scripts that create a class unless there is one. */
  classNameTaken: (className: string) => `Name '${className}' already used as a name for an Object class`,

  /** Kept without a known reader. Of a name that is given twice in a new class it begins with a small letter. */
  propertyNameTaken: (name: string, className: string, first: "Name" | "name") =>
    `${first} '${name}' already in use as a property name for class '${className}'`,

  /** Programs that read page after page: there is no further one. */
  tooManyResults: "query maximum results exceeded",

  /** Programs that ask again without the property, and the published Java examples. */
  propertyNotFound: (name: string, className: string) =>
    `no such prop with name '${name}' found in class '${className}' in the schema`,

  /** Kept without a known reader. What is given comes first; of a query vector, what is stored. */
  vectorLengths: (first: number, second: number) => `vector lengths don't match: ${first} vs ${second}`,

  /** Kept without a known reader. */
  immutable: (what: string) => `${what} is immutable`,
} as const;
