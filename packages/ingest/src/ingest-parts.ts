import type { SchemaView, WriteRouter } from "@shoal/cluster";
import type { ClassRights, RightsHolder, WireProfile } from "@shoal/model";
import type { EnabledModules } from "@shoal/module-api";
import type { SchemaService } from "@shoal/rpc";
import type { AutoSchemaSettings } from "./auto-schema/auto-schema-settings.js";
import type { ClassDimensions } from "./class-dimensions.js";

/** How much of a batch is done at once. */
export interface IngestLimits {
  /** Objects in one request to a shard. */
  readonly chunkObjectsMax: number;
  /** Bytes of all vectors in one request to a shard; a single larger one goes alone. */
  readonly chunkVectorBytesMax: number;
  /** Ids in one question where objects are. */
  readonly askedIdsMax: number;
  /** Milliseconds of validation after which the work yields to other requests. */
  readonly stepMsMax: number;
}

export const INGEST_LIMITS: IngestLimits = {
  chunkObjectsMax: 1_000,
  chunkVectorBytesMax: 8 * 1024 * 1024,
  askedIdsMax: 10_000,
  stepMsMax: 1,
};

/** What the asking side of writes is given. */
export interface IngestOptions {
  readonly schema: SchemaView;
  readonly router: WriteRouter;
  readonly schemaService: Pick<SchemaService, "fixDimensions">;
  /** Make the vectors of classes that have a vectorizer; none when absent. */
  readonly modules?: EnabledModules;
  readonly profile: Pick<WireProfile, "beaconScheme" | "patchReferences">;
  /** A random v4 uuid. */
  readonly newId: () => string;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly limits: IngestLimits;
  /** What somebody may do now who had rights before; absent: roles are off. Fails with `unavailable`. */
  readonly rightsOf?: ((holder: RightsHolder) => ClassRights) | undefined;
  /** Undefined: objects of unseen classes, and unseen properties, are refused. */
  readonly autoSchema: AutoSchemaSettings | undefined;
}

/** What its operations work with, for one request. */
export interface IngestParts extends Omit<IngestOptions, "schemaService"> {
  /** With the classes that whoever asks does not see, whose names are taken all the same; `schema` when absent. */
  readonly wholeSchema?: SchemaView;
  readonly dimensions: ClassDimensions;
}
