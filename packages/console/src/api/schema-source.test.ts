import { buildSchema, introspectionFromSchema } from "graphql";
import { describe, expect, it } from "vitest";
import type { GatewayClient } from "./gateway-client.js";
import { SchemaSource } from "./schema-source.js";
import { ServerError } from "./server-error.js";

const CLASSES = { classes: [{ class: "Article", properties: [{ name: "title", dataType: ["text"] }] }] };
const GRAPHQL = JSON.stringify({ data: introspectionFromSchema(buildSchema("type Query { Get: String }")) });

/** A server whose responses can be made to fail, and the number of times that it was asked for its GraphQL schema. */
class Server {
  schema: unknown = CLASSES;
  problem: ServerError | undefined;
  introspections = 0;

  readonly source = new SchemaSource({
    get: async () => ({ text: JSON.stringify(this.schema), milliseconds: 1 }),
    post: async () => {
      this.introspections++;
      if (this.problem !== undefined) throw this.problem;
      return { text: GRAPHQL, milliseconds: 1 };
    },
  } as unknown as GatewayClient);
}

describe("the schema", () => {
  it("is read again only when the classes change", async () => {
    const server = new Server();
    await server.source.refresh();
    const { state } = server.source;
    expect(state).toMatchObject({ kind: "ready", classes: [{ name: "Article" }], problem: undefined });
    await server.source.refresh();
    expect(server.source.state).toBe(state);
    expect(server.introspections).toBe(1);
    server.schema = { classes: [] };
    await server.source.refresh();
    expect(server.source.state).toMatchObject({ kind: "ready", classes: [], graphql: undefined });
  });

  it("is read again when it could not be read, although the classes are the same", async () => {
    const server = new Server();
    server.problem = new ServerError(429, "too much to do");
    await server.source.refresh();
    expect(server.source.state).toMatchObject({ kind: "ready", graphql: undefined, problem: "too much to do" });
    server.problem = undefined;
    await server.source.refresh();
    expect(server.source.state).toMatchObject({ kind: "ready", graphql: {}, problem: undefined });
  });
});
