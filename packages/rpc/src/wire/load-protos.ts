import { fileURLToPath } from "node:url";
import { loadSync, type PackageDefinition } from "@grpc/proto-loader";
import type { AccessDefinition } from "../generated/shoal/Access.js";
import type { ExtensionsDefinition } from "../generated/shoal/Extensions.js";
import type { IdentityDefinition } from "../generated/shoal/Identity.js";
import type { JobsDefinition } from "../generated/shoal/Jobs.js";
import type { NodesDefinition } from "../generated/shoal/Nodes.js";
import type { SchemaDefinition } from "../generated/shoal/Schema.js";
import type { ShardsDefinition } from "../generated/shoal/Shards.js";

/** `protos/` of the repository; as far from `dist` as from `src`. */
const FOLDER = fileURLToPath(new URL("../../../../protos", import.meta.url));

const PROTOS = ["frames", "schema", "nodes", "jobs", "extensions", "access"].map((name) => `shoal/${name}.proto`);

const loaded: PackageDefinition = loadSync(PROTOS, {
  includeDirs: [FOLDER],
  longs: Number,
  enums: Number,
  defaults: true,
});

const bytesAsTheyAre = (bytes: Buffer): Buffer => bytes;
/** The generated types say what the files say: a test holds them to it. */
const definitionOf = <Definition>(name: string) => loaded[name] as unknown as Definition;

const shards = definitionOf<ShardsDefinition>("shoal.Shards");

/** Packets are written and read by `packet-codec.ts`. */
export const SHARDS = {
  Talk: {
    ...shards.Talk,
    requestSerialize: bytesAsTheyAre,
    requestDeserialize: bytesAsTheyAre,
    responseSerialize: bytesAsTheyAre,
    responseDeserialize: bytesAsTheyAre,
  },
};
export const SCHEMA = definitionOf<SchemaDefinition>("shoal.Schema");
export const EXTENSIONS = definitionOf<ExtensionsDefinition>("shoal.Extensions");
export const ACCESS = definitionOf<AccessDefinition>("shoal.Access");
export const JOBS = definitionOf<JobsDefinition>("shoal.Jobs");
export const NODES = definitionOf<NodesDefinition>("shoal.Nodes");
export const IDENTITY = definitionOf<IdentityDefinition>("shoal.Identity");
/** As protobuf itself reads and writes packets. */
export const PACKET_BY_REFLECTION = shards.Talk;
