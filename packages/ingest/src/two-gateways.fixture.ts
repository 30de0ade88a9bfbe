import { SchemaReplica } from "@shoal/cluster";
import { SPEC_PROFILE } from "@shoal/model";
import type { SchemaSnapshot } from "@shoal/rpc";
import { INGEST_LIMITS } from "./ingest-parts.js";
import type { IngestService } from "./ingest-service.js";
import type { MemoryCluster } from "./memory-cluster.fixture.js";
import { ObjectIngest } from "./object-ingest.js";

/** The ingest of a gateway that hears of changes of the schema when the test says so. */
export class LateGateway {
  readonly ingest: IngestService;
  readonly view: SchemaReplica;
  /** Questions to the coordinator. */
  questions = 0;
  #publish: (snapshot: SchemaSnapshot) => void = () => {};

  constructor(cluster: MemoryCluster, isAutoSchemaOn: boolean, turns: () => Promise<void> = () => Promise.resolve()) {
    this.view = new SchemaReplica({
      current: async () => {
        this.questions++;
        await turns();
        return cluster.snapshot;
      },
      watch: (listener) => {
        this.#publish = listener;
        listener(cluster.snapshot);
        return { [Symbol.dispose]: () => {} };
      },
    });
    const types = { string: "text", number: "number", date: "date" } as const;
    const autoSchema = {
      types,
      schemaService: cluster,
      classSettings: () => cluster.classSettings,
      schemaLimits: cluster.schemaLimits,
    };
    let ids = 0;
    this.ingest = new ObjectIngest({
      schema: this.view,
      router: cluster.router,
      schemaService: cluster,
      profile: SPEC_PROFILE,
      newId: () => `00000000-0000-4000-8000-${(++ids).toString(16).padStart(12, "0")}`,
      nowMs: () => cluster.now,
      limits: INGEST_LIMITS,
      autoSchema: isAutoSchemaOn ? autoSchema : undefined,
    });
  }

  /** Hears of the schema as it is now. */
  hear(snapshot: SchemaSnapshot): void {
    this.#publish(snapshot);
  }
}
