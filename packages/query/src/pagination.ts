import { CLIENT_PHRASES, EXPLORE_ROWS_DEFAULT, ShoalError } from "@shoal/model";

/** Rows of a `Get` that names neither limit nor offset (reference-graphql 2.4). */
const GET_LIMIT_DEFAULT = 100;

export interface PageLimits {
  /** Limit of a request that gives an offset only, or none at all in a REST listing. */
  readonly defaultLimit: number;
  /** Highest `offset + limit`. */
  readonly maximumResults: number;
}

export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** The page of a `Get`; -1 stands for the default limit. Fails with `invalid` outside the bounds. */
export function pageOfGet(limit: number | undefined, offset: number | undefined, limits: PageLimits): Page {
  if (limit === undefined && offset === undefined) {
    return { offset: 0, limit: Math.min(GET_LIMIT_DEFAULT, limits.maximumResults) };
  }
  return pageOfList(limit === -1 ? undefined : limit, offset, limits);
}

/** The page of an `Explore`; 0 and -1 stand for its default limit. Fails with `invalid` outside the bounds. */
export function pageOfExplore(limit: number | undefined, offset: number | undefined, limits: PageLimits): Page {
  const isDefault = limit === undefined || limit === 0 || limit === -1;
  return pageOfList(isDefault ? Math.min(EXPLORE_ROWS_DEFAULT, limits.maximumResults) : limit, offset, limits);
}

/** The page of a REST listing. Fails with `invalid` outside the bounds. */
export function pageOfList(limit: number | undefined, offset: number | undefined, limits: PageLimits): Page {
  const page: Page = { offset: offset ?? 0, limit: limit ?? limits.defaultLimit };
  if (page.limit < 0) throw new ShoalError("invalid", `limit must be 0 or more, got ${page.limit}`);
  if (page.offset < 0) throw new ShoalError("invalid", `offset must be 0 or more, got ${page.offset}`);
  if (page.offset + page.limit > limits.maximumResults) {
    const { offset: skipped, limit: wanted } = page;
    const asked = skipped === 0 ? `a limit of ${wanted}` : `an offset of ${skipped} with a limit of ${wanted}`;
    throw new ShoalError(
      "invalid",
      `${CLIENT_PHRASES.tooManyResults}: ${asked} asks for more than ${limits.maximumResults} rows (QUERY_MAXIMUM_RESULTS): ` +
        "ask for fewer",
    );
  }
  return page;
}
