import { BENCH_SETS, rowCategory, rowPrice, type SetName } from "../bench-class.js";
import { httpRequest } from "../load-generator/http-request.js";
import type { Workload } from "../load-generator/workload.js";

export interface AggregateParameters {
  readonly set: SetName;
  readonly loaded: number;
  readonly of: "count" | "numbers" | "groups";
  readonly warmUpRequests: number;
  readonly requests: number;
}

interface Asked {
  readonly text: string;
  readonly expected: unknown;
}

/** Aggregate over all rows: the limit varies, which bounds groups and nothing else. Every answer is compared. */
export async function prepare(url: URL, parameters: AggregateParameters): Promise<Workload> {
  const { set, loaded, of, warmUpRequests, requests } = parameters;
  const { className } = BENCH_SETS[set];
  const asked = of === "count" ? [{ text: "", expected: loaded }] : of === "numbers" ? numbers(loaded) : groups(loaded);
  const bodies = Array.from({ length: warmUpRequests + requests }, (_, index) => {
    const { text } = asked[index % asked.length] as Asked;
    const groupBy = of === "groups" ? `groupBy: ["category"], ` : "";
    const fields = of === "numbers" ? text : of === "groups" ? "meta { count } groupedBy { value }" : "meta { count }";
    const query = `{ Aggregate { ${className}(${groupBy}limit: ${10 + index}) { ${fields} } } }`;
    return httpRequest(url, "POST", "/v1/graphql", JSON.stringify({ query }));
  });
  return {
    warmUpRequests,
    requests,
    request: (index) => bodies[index] as Buffer,
    fault(index, { status, body }) {
      const text = body.toString("utf8");
      const { expected } = asked[index % asked.length] as Asked;
      const wanted =
        of === "count"
          ? `[{"meta":{"count":${loaded}}}]`
          : of === "numbers"
            ? `[${JSON.stringify(expected)}]`
            : JSON.stringify(expected);
      if (status === 200 && text.includes(`"${className}":${wanted}`)) return undefined;
      return `Aggregate: ${status} ${text.slice(0, 500)}, expected ${wanted}`;
    },
  };
}

function numbers(loaded: number): readonly Asked[] {
  const of = (name: string, value: (row: number) => number): Asked => {
    const values = Array.from({ length: loaded }, (_, row) => value(row));
    const sum = values.reduce((total, one) => total + one, 0);
    const minimum = values.reduce((a, b) => Math.min(a, b));
    const maximum = values.reduce((a, b) => Math.max(a, b));
    return {
      text: `${name} { mean minimum maximum }`,
      expected: { [name]: { mean: sum / loaded, minimum, maximum } },
    };
  };
  return [of("price", rowPrice), of("rank", (row) => row)];
}

function groups(loaded: number): readonly Asked[] {
  const counts = new Map<string, number>();
  for (let row = 0; row < loaded; row++) counts.set(rowCategory(row), (counts.get(rowCategory(row)) ?? 0) + 1);
  const sorted = [...counts].sort(([a, most], [b, other]) => other - most || (a < b ? -1 : 1));
  return [{ text: "", expected: sorted.map(([value, count]) => ({ meta: { count }, groupedBy: { value } })) }];
}
