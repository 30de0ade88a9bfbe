export type { PageLimits } from "./pagination.js";
export { QueryEngine, type QueryEngineOptions } from "./query-engine.js";
export type { GetRow, ListQuery, QueryService } from "./query-service.js";
