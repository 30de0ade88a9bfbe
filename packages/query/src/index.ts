export type { PageLimits } from "./pagination.js";
export { QueryEngine, type QueryEngineOptions } from "./query-engine.js";
export type { ExploreRow, GetRow, ListQuery, QueryService, ReferencedRow } from "./query-service.js";
