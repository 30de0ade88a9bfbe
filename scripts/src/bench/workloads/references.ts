import { httpRequest } from "../load-generator/http-request.js";
import type { Workload } from "../load-generator/workload.js";
import { levelId, levelName, linksOf, REFERENCE_LEVELS, type ReferenceLevel } from "../reference-tree.js";

export interface ReferencesParameters {
  readonly limit: number;
  readonly warmUpRequests: number;
  readonly requests: number;
}

/** The offset may be as high as the maximum of results allows. */
const OFFSETS = 9_900;

/** Get of rows with what they point to, three levels deep. Every answer is compared as a whole. */
export async function prepare(url: URL, parameters: ReferencesParameters): Promise<Workload> {
  const { limit, warmUpRequests, requests } = parameters;
  const [first, second, third] = REFERENCE_LEVELS;
  const byId = Array.from({ length: first.count }, (_, index) => ({ index, id: levelId(0, index) }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ index }) => index);
  const offset = (index: number) => (index * 617) % OFFSETS;
  const inner = `leadsTo { ... on ${second.className} { name leadsTo { ... on ${third.className} { name } } } }`;
  return {
    warmUpRequests,
    requests,
    request(index) {
      const query = `{ Get { ${first.className}(limit: ${limit}, offset: ${offset(index)}) { name ${inner} } } }`;
      return httpRequest(url, "POST", "/v1/graphql", JSON.stringify({ query }));
    },
    fault(index, { status, body }) {
      const page = byId.slice(offset(index), offset(index) + limit);
      const expected = `"${first.className}":${JSON.stringify(page.map((one) => row(0, one)))}`;
      if (status === 200 && body.includes(expected)) return undefined;
      return `references: ${status} ${body.toString("utf8", 0, 500)}, expected ${expected.slice(0, 500)}`;
    },
  };
}

function row(level: ReferenceLevel, index: number): object {
  const links = linksOf(level, index);
  const next = (level + 1) as ReferenceLevel;
  return {
    name: levelName(level, index),
    ...(links.length === 0 ? {} : { leadsTo: links.map((to) => row(next, to)) }),
  };
}
