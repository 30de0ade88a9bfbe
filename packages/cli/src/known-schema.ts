/** The file in a data folder with the schema that its process knew last. */
export const KNOWN_SCHEMA = "schema.json";
