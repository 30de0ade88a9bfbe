import { expect } from "vitest";
import weaviate, { type WeaviateClient } from "weaviate-ts-client";
import { ServerProcess } from "../../src/server-process.js";

/** The package's types are those of its CommonJS form; the form that Node loads here has no second `default`. */
const library = weaviate as unknown as typeof weaviate.default;

/** A server with the profile of existing applications, and a client made as they make theirs. */
export async function startClient(): Promise<{ readonly server: ServerProcess; readonly client: WeaviateClient }> {
  const server = await ServerProcess.start();
  return { server, client: library.client({ scheme: "http", host: `127.0.0.1:${server.port}` }) };
}

/** Ends the server. Nothing that the client has sent was without effect (U1): the server knows what its clients say. */
export async function stopClient(server: ServerProcess): Promise<void> {
  await server[Symbol.asyncDispose]();
  expect(server.output.split("\n").filter((line) => line.includes("parts without effect"))).toEqual([]);
}
