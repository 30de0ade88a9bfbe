import { setting } from "../setting.js";
import { wholeNumber } from "../setting-parsers.js";

/** What queries and classes that name nothing get. */
export const QUERY_SETTINGS = {
  queryDefaultsLimit: setting("QUERY_DEFAULTS_LIMIT", "query_defaults.limit", wholeNumber(0, 1_000_000), {
    fallback: 25,
    meaning: "Objects on a page of GET /v1/objects when the request names no limit.",
  }),
  queryMaximumResults: setting("QUERY_MAXIMUM_RESULTS", "query_maximum_results", wholeNumber(1, 1_000_000), {
    fallback: 10_000,
    meaning: "Most objects a query may reach: offset plus limit.",
  }),
} as const;
