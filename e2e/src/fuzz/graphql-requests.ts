import type { SeededRandom } from "@shoal/seeded-random";
import type { FuzzedRequest } from "./fuzz-run.js";
import { objectOf } from "./graphql-classes.js";
import type { GraphqlQueries, MadeQuery } from "./graphql-queries.js";
import { graphqlComplaint, isGraphqlSuccess } from "./graphql-verdict.js";
import { DATA_TYPES, type KnownNames, PROPERTY_NAMES } from "./known-names.js";
import { bomb, withOddTokens } from "./odd-queries.js";
import type { FuzzRequest } from "./odd-requests.js";
import { damaged, oddValue, withOddMembers, writeOdd } from "./odd-values.js";
import type { RawOutcome } from "./raw-connection.js";

const BODY_CHARS_MAX = 4 * 1024 * 1024;

/** Requests about GraphQL: about half of the queries are as they should be. */
export class GraphqlRequests {
  constructor(
    readonly queries: GraphqlQueries,
    readonly names: KnownNames,
    readonly chance: SeededRandom,
  ) {}

  next(): FuzzedRequest {
    const { chance } = this;
    if (chance.oneIn(15)) return this.#write();
    if (chance.oneIn(8)) return this.#batch();
    const made = this.queries.make();
    const isOdd = chance.oneIn(2);
    const body = isOdd ? this.#odd(made) : JSON.stringify(bodyOf(made));
    return this.#graphql("graphql", "/v1/graphql", body, isOdd ? [] : [...made.parts]);
  }

  #batch(): FuzzedRequest {
    const { chance } = this;
    const count = chance.pick([0, 1, 1, 2, 3, 10, 10, chance.oneIn(30) ? 300 : 5]);
    const items = Array.from({ length: count }, () => {
      const made = this.queries.make();
      return chance.oneIn(4) ? this.#oddBody(made) : bodyOf(made);
    });
    const text = chance.oneIn(8) ? writeOdd(withOddMembers(items, chance)) : JSON.stringify(items);
    return this.#graphql("batch", "/v1/graphql/batch", text.slice(0, BODY_CHARS_MAX), []);
  }

  #graphql(name: string, target: string, body: string | Buffer, parts: readonly string[]): FuzzedRequest {
    const request = requestOf(name, "POST", target, body);
    return {
      name,
      parts,
      request,
      complaint: (outcome: RawOutcome) => graphqlComplaint(name === "batch", outcome),
      isSuccess: (answer) => answer.status === 200 && isGraphqlSuccess(answer.body),
    };
  }

  /** The body of a query with something odd about it. */
  #odd(made: MadeQuery): string | Buffer {
    const { chance } = this;
    const body = this.#oddBody(made);
    if (chance.oneIn(8)) return damaged(JSON.stringify(body), chance);
    const text = chance.oneIn(6) ? writeOdd(withOddMembers(body, chance)) : JSON.stringify(body);
    return text.slice(0, BODY_CHARS_MAX);
  }

  #oddBody(made: MadeQuery): object {
    const { chance } = this;
    const className = chance.pick(this.names.classNames.slice(0, 3));
    switch (chance.below(8)) {
      case 0:
        return chance.oneIn(3) ? { query: bomb(className, chance) } : bodyOf(made);
      case 1:
        return { ...bodyOf(made), variables: this.#oddVariables(made) };
      case 2:
        return { ...bodyOf(made), operationName: chance.pick<unknown>(["", "q", "nobody", null, 5, "__proto__"]) };
      default:
        return { ...bodyOf(made), query: withOddTokens(made.query, chance) };
    }
  }

  #oddVariables({ variables = {} }: MadeQuery): unknown {
    const { chance } = this;
    if (chance.oneIn(4)) return chance.pick<unknown>([null, [], "x", 5, {}, { __proto: 1 }]);
    return Object.fromEntries(
      Object.keys(variables).map((key) => [key, chance.oneIn(2) ? oddPlain(chance) : variables[key]]),
    );
  }

  /** Objects and classes that change while queries run. */
  #write(): FuzzedRequest {
    const { chance, names } = this;
    const { id, className } = names.object(chance);
    const request = ((): FuzzRequest => {
      switch (chance.below(12)) {
        case 0:
          return requestOf("write", "DELETE", `/v1/objects/${id}`, undefined);
        case 1:
          return requestOf("write", "PATCH", `/v1/objects/${id}`, JSON.stringify({ ...objectOf(names, chance), id }));
        case 2: {
          const dataType = chance.oneIn(2) ? [chance.pick(names.classNames)] : [chance.pick(DATA_TYPES)];
          const property = { name: chance.pick(PROPERTY_NAMES), dataType, indexInverted: !chance.oneIn(5) };
          return requestOf("write", "POST", `/v1/schema/${className}/properties`, JSON.stringify(property));
        }
        case 3: {
          const spare = chance.pick(names.classNames.slice(3));
          if (chance.oneIn(2)) return requestOf("write", "DELETE", `/v1/schema/${spare}`, undefined);
          return requestOf("write", "POST", "/v1/schema", JSON.stringify({ class: spare }));
        }
        default: {
          const objects = Array.from({ length: 1 + chance.below(20) }, () => objectOf(names, chance));
          return requestOf("write", "POST", "/v1/batch/objects", JSON.stringify({ objects }));
        }
      }
    })();
    return {
      name: "write",
      request,
      // What writes may be answered is the matter of the REST run.
      complaint: (outcome) =>
        typeof outcome === "string"
          ? `a write: ${outcome}`
          : outcome.status >= 500 && outcome.status !== 503
            ? `${outcome.status} ${outcome.body.toString("utf8", 0, 500)}`
            : undefined,
      isSuccess: ({ status }) => status < 300,
    };
  }
}

/** An odd value that JSON can hold. */
function oddPlain(chance: SeededRandom): unknown {
  const value = oddValue(chance);
  return typeof value === "string" && value.startsWith("\u0001")
    ? chance.pick<unknown>([1e308, -1, 2 ** 63, "x"])
    : value;
}

function bodyOf({ query, variables }: MadeQuery): object {
  return variables === undefined ? { query } : { query, variables };
}

function requestOf(operation: string, method: string, target: string, body: string | Buffer | undefined): FuzzRequest {
  return {
    operation,
    method,
    target,
    headers: body === undefined ? [] : [["Content-Type", "application/json"]],
    body: body === undefined ? undefined : Buffer.from(body as string),
    framing: "length",
    isOddTransport: false,
  };
}
