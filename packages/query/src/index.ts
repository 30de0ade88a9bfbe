export type { GetRow, ListQuery, QueryService } from "./query-service.js";
