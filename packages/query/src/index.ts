export { collectPage } from "./list-objects.js";
export { nearSearch } from "./near-search.js";
export type { PageLimits } from "./pagination.js";
export { type FilterParts, planFilter } from "./plan-filter.js";
export { QueryEngine, type QueryEngineOptions } from "./query-engine.js";
export type { ExploreRow, GetRow, ListQuery, QueryService, ReferencedRow } from "./query-service.js";
