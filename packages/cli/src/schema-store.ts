/** Memory of a store that holds the schema, which is small. */
export const SCHEMA_STORE = { cacheBytes: 1024 * 1024, writeBufferBytes: 1024 * 1024 } as const;
