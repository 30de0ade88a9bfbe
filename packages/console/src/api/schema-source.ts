import { buildClientSchema, type GraphQLSchema, getIntrospectionQuery, type IntrospectionQuery } from "graphql";
import { type ClassInfo, readClasses } from "../objects/class-info.js";
import { Source } from "../source.js";
import type { GatewayClient } from "./gateway-client.js";
import { ServerError } from "./server-error.js";

export type SchemaState =
  | { readonly kind: "loading" }
  /** `graphql` is undefined when there is no class, or the schema could not be read; `problem` then says why. */
  | {
      readonly kind: "ready";
      readonly classes: readonly ClassInfo[];
      readonly graphql: GraphQLSchema | undefined;
      readonly problem: string | undefined;
    }
  | { readonly kind: "failed"; readonly error: ServerError };

/** How often a page that somebody looks at asks whether the classes have changed. */
const ASK_EVERY_MS = 15_000;

/** The classes, and the GraphQL schema that the server makes of them; both follow what others change. */
export class SchemaSource extends Source<SchemaState> {
  readonly #client: GatewayClient;
  #text: string | undefined;
  #asking: Promise<void> | undefined;

  constructor(client: GatewayClient) {
    super({ kind: "loading" });
    this.#client = client;
  }

  /** Asks now, whenever the page is looked at again, and now and then while it is. Returns the end of that. */
  follow(): () => void {
    const ask = (): void => {
      if (document.visibilityState === "visible") void this.refresh();
    };
    ask();
    const timer = setInterval(ask, ASK_EVERY_MS);
    document.addEventListener("visibilitychange", ask);
    window.addEventListener("focus", ask);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", ask);
      window.removeEventListener("focus", ask);
    };
  }

  /**
   * Reads the classes, and the GraphQL schema if they are not what they were or it could not be read. Never fails: the
   * state says it.
   */
  refresh(): Promise<void> {
    this.#asking ??= this.#refresh().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #refresh(): Promise<void> {
    try {
      const { text } = await this.#client.get("/v1/schema");
      const isWhole = this.state.kind === "ready" && this.state.problem === undefined;
      if (text === this.#text && isWhole) return;
      const classes = readClasses(text);
      this.become({ kind: "ready", classes, ...(await this.#introspect(classes)) });
      this.#text = text;
    } catch (error) {
      // A server that is away for a moment does not take the schema from those who write a query.
      if (this.state.kind === "ready") return;
      this.become({ kind: "failed", error: ServerError.from(error) });
    }
  }

  async #introspect(classes: readonly ClassInfo[]) {
    if (classes.length === 0) return { graphql: undefined, problem: undefined };
    try {
      const { text } = await this.#client.post("/v1/graphql", JSON.stringify({ query: getIntrospectionQuery() }));
      const { data, errors } = JSON.parse(text) as {
        data?: IntrospectionQuery;
        errors?: readonly { message: string }[];
      };
      if (!data) throw new Error(errors?.[0]?.message ?? "the answer has no data");
      return { graphql: buildClientSchema(data), problem: undefined };
    } catch (error) {
      return { graphql: undefined, problem: error instanceof Error ? error.message : String(error) };
    }
  }
}
