import type { SettingsReader } from "./setting.js";

interface FormerSetting {
  readonly variable: string;
  readonly key: string;
}

/**
 * Settings of former versions, which nobody had a reason to set: what they bounded has a constant bound now. A start with one of them says
 * so and goes on.
 */
export const FORMER_SETTINGS: readonly FormerSetting[] = [
  { variable: "REQUEST_BODIES_MAX", key: "request.bodies_max" },
  { variable: "GRAPHQL_TOKENS_MAX", key: "graphql.tokens_max" },
  { variable: "GRAPHQL_NUMBERS_MAX", key: "graphql.numbers_max" },
  { variable: "GRAPHQL_ALIASES_MAX", key: "graphql.aliases_max" },
  { variable: "GRAPHQL_QUERY_CHARS_MAX", key: "graphql.query_chars_max" },
  { variable: "GRAPHQL_FRAGMENTS_MAX", key: "graphql.fragments_max" },
  { variable: "GRAPHQL_FIELDS_MAX", key: "graphql.fields_max" },
  { variable: "GRAPHQL_FIELD_PAIRS_MAX", key: "graphql.field_pairs_max" },
  { variable: "FILTER_DEPTH_MAX", key: "query.filter_depth_max" },
  { variable: "FILTER_REFERENCES_MAX", key: "query.filter_references_max" },
  { variable: "FILTER_TEXT_CHARS_MAX", key: "query.filter_text_chars_max" },
  { variable: "LIKE_PATTERN_CHARS_MAX", key: "query.like_pattern_chars_max" },
  { variable: "GROUP_COMPARISONS_MAX", key: "query.group_comparisons_max" },
  { variable: "LONG_READS_MAX", key: "query.long_reads_max" },
  { variable: "LONG_READS_WAITING_MAX", key: "query.long_reads_waiting_max" },
  { variable: "ROWS_IN_FLIGHT_MAX", key: "query.rows_in_flight_max" },
  { variable: "INTERNAL_REQUESTS_MAX", key: "internal.requests_max" },
  { variable: "HELD_REQUESTS_MAX", key: "shard.held_requests_max" },
];

/** Tells of each that is set, by its place. */
export function warnOfFormerSettings(settings: SettingsReader): void {
  for (const former of FORMER_SETTINGS) {
    const found = settings.find(former);
    if (found !== undefined) settings.warn(`no longer a setting, it has no effect: ${found.place}`);
  }
}
