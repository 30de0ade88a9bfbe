export type { SchemaView } from "./schema-view.js";
