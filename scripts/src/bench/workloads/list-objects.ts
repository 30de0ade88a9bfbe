import { BENCH_SETS, type SetName } from "../bench-class.js";
import { httpRequest } from "../load-generator/http-request.js";
import type { Workload } from "../load-generator/workload.js";

export interface ListParameters {
  readonly set: SetName;
  readonly over: "graphql" | "rest";
  readonly limit: number;
  readonly warmUpRequests: number;
  readonly requests: number;
}

/** A listing has little to vary: ten offsets, and over GraphQL every order of the four properties. */
export async function prepare(url: URL, parameters: ListParameters): Promise<Workload> {
  const { set, over, limit, warmUpRequests, requests } = parameters;
  const { className } = BENCH_SETS[set];
  const orders = permutations(["text", "category", "rank", "price"]);
  const offsets = Array.from({ length: 10 }, (_, offset) => offset);
  const bodies =
    over === "rest"
      ? offsets.map((offset) => httpRequest(url, "GET", `/v1/objects?limit=${limit}&offset=${offset}`))
      : orders.flatMap((order) =>
          offsets.map((offset) => {
            const fields = `${order.join(" ")} _additional { id }`;
            const query = `{ Get { ${className}(limit: ${limit}, offset: ${offset}) { ${fields} } } }`;
            return httpRequest(url, "POST", "/v1/graphql", JSON.stringify({ query }));
          }),
        );
  return {
    warmUpRequests,
    requests,
    request: (index) => bodies[index % bodies.length] as Buffer,
    fault(_, { status, body }) {
      const ids = status === 200 ? body.toString("latin1").split('"id":"').length - 1 : 0;
      if (ids === limit && !body.includes('"errors":[')) return undefined;
      return `list: ${status}, ${ids} ids, ${body.toString("utf8", 0, 300)}`;
    },
  };
}

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length <= 1) return [items];
  return items.flatMap((item, at) =>
    permutations([...items.slice(0, at), ...items.slice(at + 1)]).map((rest) => [item, ...rest]),
  );
}
