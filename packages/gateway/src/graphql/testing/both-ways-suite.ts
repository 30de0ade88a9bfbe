import type { SchemaView } from "@shoal/cluster";
import { SPEC_PROFILE } from "@shoal/model";
import { type EnabledModules, NO_ENABLED_MODULES } from "@shoal/module-api";
import { expect } from "vitest";
import { GraphQlHandler } from "../handler.js";
import { PreparedQueries } from "../prepared/prepared-queries.js";
import type { LibraryQuery } from "./library.js";

const CONTEXT = { deadline: Number.MAX_SAFE_INTEGER };

/** Two handlers over the same classes and objects: one with prepared queries, one where graphql-js reads everything. */
export class BothWays {
  /** Responses by prepared queries; requests that were refused; and those whose fields failed. */
  readonly seen = { prepared: 0, refused: 0, failed: 0 };
  readonly #plainQuery: LibraryQuery;
  readonly #preparedQuery: LibraryQuery;
  readonly #plain;
  readonly #prepared;

  constructor(schema: SchemaView, makeQuery: () => LibraryQuery, modules: EnabledModules = NO_ENABLED_MODULES) {
    this.#plainQuery = makeQuery();
    this.#preparedQuery = makeQuery();
    const shared = { onFault: () => {}, schema, modules, wire: SPEC_PROFILE, limits: { preparedQueriesMax: 50_000 } };
    this.#plain = new GraphQlHandler({ ...shared, query: this.#plainQuery, prepareQueries: false });
    this.#prepared = new GraphQlHandler({ ...shared, query: this.#preparedQuery });
  }

  /** Fails unless both answer the same bytes, and ask the same of the query service on the way. */
  async compare(bytes: Buffer, context: string): Promise<void> {
    this.#plainQuery.asked.length = 0;
    this.#preparedQuery.asked.length = 0;
    const expected = await this.#plain.execute(bytes, CONTEXT);
    const got = await this.#counted(() => this.#prepared.execute(bytes, CONTEXT));
    const text = expected.body.toString();
    expect(got.body.toString(), context).toBe(text);
    expect(got.status, context).toBe(expected.status);
    expect(this.#preparedQuery.asked, context).toEqual(this.#plainQuery.asked);
    if (text.startsWith('{"errors"')) this.seen.refused++;
    else if (text.includes('"errors":[')) this.seen.failed++;
  }

  async #counted<T>(act: () => Promise<T>): Promise<T> {
    const { execute } = PreparedQueries.prototype;
    const { seen } = this;
    PreparedQueries.prototype.execute = function (...args) {
      const response = execute.apply(this, args);
      if (response !== undefined) seen.prepared++;
      return response;
    };
    try {
      return await act();
    } finally {
      PreparedQueries.prototype.execute = execute;
    }
  }
}
