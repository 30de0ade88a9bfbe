import type { WireProfile } from "@shoal/model";
import * as z from "zod";
import type { Method } from "../../http/route.js";
import { NODE_OUTPUTS } from "../nodes-route.js";
import { type Operation, operation } from "./operation.js";

const LINKS = z.strictObject({
  links: z.array(z.strictObject({ documentationHref: z.string().optional(), href: z.string(), name: z.string() })),
});

const META = z.strictObject({
  hostname: z.string().describe("The address it listens on."),
  modules: z.record(z.string(), z.unknown()),
  shoalVersion: z.string(),
  version: z.string().describe("Version of the interface, which client libraries look at."),
});

const DISCOVERY = z.looseObject({
  href: z.string().optional(),
  clientId: z.string().optional(),
});

const NODES_QUERY = z.object({
  output: z
    .enum(NODE_OUTPUTS)
    .optional()
    .describe("`minimal`: without shards. `verbose`: shards with all members of today's Weaviate."),
});

const SHARD = z.strictObject({
  name: z.string(),
  class: z.string(),
  objectCount: z.int(),
  asyncReplicationStatus: z.null().optional(),
  compressed: z.boolean().optional(),
  loaded: z.boolean().optional(),
  numberOfReplicas: z.int().optional(),
  replicationFactor: z.int().optional(),
  vectorIndexingStatus: z.enum(["READY", "READONLY"]).optional(),
  vectorQueueLength: z.int().optional(),
  diskBytes: z
    .int()
    .optional()
    .describe(
      "About what the shard takes on disk: tables and log of its objects, and the snapshot of its vector index.",
    ),
  vectorMemoryBytes: z.int().optional().describe("What its vector index takes in memory."),
  copy: z
    .string()
    .optional()
    .describe("The copy of the shard that is on the node; of shards with copies, as what follows."),
  copyState: z
    .enum(["IN_SYNC", "CATCHING_UP", "DAMAGED"])
    .optional()
    .describe(
      "`CATCHING_UP`: it lacks something, and counts for nothing until it has it. `DAMAGED`: its store cannot be opened, has failed " +
        "for good, or has lost objects; `reason` says why.",
    ),
  isPrimary: z.boolean().optional(),
  lag: z
    .int()
    .optional()
    .describe(
      "Changes that the copy lacks; objects that it lacks while it gets all of them. Absent of a damaged copy.",
    ),
  recall: z.looseObject({}).optional().describe("What the vector index has measured of its searches."),
  reason: z.string().optional().describe("Why the shard cannot be written, or not all of it can be read."),
});

const NODES = z.strictObject({
  nodes: z.array(
    z.strictObject({
      name: z.string(),
      status: z.enum(["HEALTHY", "UNHEALTHY", "UNAVAILABLE"]),
      version: z.string(),
      gitHash: z.string(),
      stats: z.strictObject({ objectCount: z.int(), shardCount: z.int() }).optional(),
      shards: z.array(SHARD).nullable().describe("Null where `output` is `minimal`."),
      batchStats: z.strictObject({ ratePerSecond: z.number() }).optional().describe("Where `output` is given."),
      operationalMode: z.string().optional().describe("Where `output` is given."),
    }),
  ),
});

const PROBE_METHODS: readonly Method[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** What the instance says of itself (specification, "Instance and discovery"). */
export function instanceOperations({ notFoundHasBody }: Pick<WireProfile, "notFoundHasBody">): readonly Operation[] {
  return [
    operation("GET", "/v1", "instance", "getLinks", "Links to the parts of the API", {
      responses: { 200: { description: "The links.", schema: LINKS } },
    }),
    operation("GET", "/v1/meta", "instance", "getMeta", "Version, address and modules", {
      responses: {
        200: {
          description: "What this instance is.",
          schema: META,
          example: { hostname: "http://127.0.0.1:8080", modules: {}, shoalVersion: "0.1.0", version: "1.8.0" },
        },
      },
    }),
    operation("GET", "/v1/nodes", "instance", "getNodes", "The storage nodes and their shards", {
      description:
        "One entry a storage node that has registered, by name. `UNHEALTHY`: one of its shards cannot be written, has " +
        "failed, or is a copy that is not in sync or is damaged; it is the status of the node, so shards of classes count that the user may not see. `UNAVAILABLE`: it cannot " +
        "be reached; nothing is known of its shards then.",
      query: NODES_QUERY,
      responses: {
        200: {
          description: "The nodes.",
          schema: NODES,
          example: {
            nodes: [
              {
                name: "node-1",
                status: "HEALTHY",
                version: "0.1.0",
                gitHash: "0123456",
                stats: { objectCount: 3, shardCount: 1 },
                shards: [{ name: "mFhIDJJibOk8", class: "Car", objectCount: 3 }],
              },
            ],
          },
        },
        422: { description: "`output` is no word that is known." },
      },
    }),
    operation("GET", "/v1/.well-known/openid-configuration", "instance", "getOpenIdConfiguration", "Where to sign in", {
      responses: {
        200: { description: "The discovery document of the issuer, with `href` and `clientId`.", schema: DISCOVERY },
        404: { description: "OpenID Connect is not configured.", isEmpty: !notFoundHasBody },
      },
    }),
    ...PROBE_METHODS.map(
      (method): Operation =>
        operation(method, "/v1/.well-known/live", "instance", `live${named(method)}`, "Whether the process lives", {
          responses: { 200: { description: "It does." } },
        }),
    ),
    ...PROBE_METHODS.map(
      (method): Operation =>
        operation(
          method,
          "/v1/.well-known/ready",
          "instance",
          `ready${named(method)}`,
          "Whether requests should be sent here",
          {
            responses: { 200: { description: "They should." }, 503: { description: "It starts, or it drains." } },
          },
        ),
    ),
    operation("GET", "/v1/openapi.json", "instance", "getOpenApi", "This document", {
      responses: { 200: { description: "OpenAPI 3.1.", schema: z.looseObject({ openapi: z.string() }) } },
    }),
    operation("GET", "/v1/docs", "instance", "getDocs", "This document as a page for people", {
      responses: { 302: { description: "The page is at `/docs`." } },
    }),
  ];
}

function named(method: Method): string {
  return method === "GET" ? "" : `By${method.charAt(0)}${method.slice(1).toLowerCase()}`;
}
