import { randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import { type SchemaView, ShardMap } from "@shoal/cluster";
import type { SchemaCoordinator } from "@shoal/coordinator";
import { type AccessControl, createGateway, type Gateway } from "@shoal/gateway";
import { type AutoSchemaSettings, INGEST_LIMITS, ObjectIngest } from "@shoal/ingest";
import { type ClassSettings, NO_MODULES, wireProfile } from "@shoal/model";
import { QueryEngine } from "@shoal/query";
import type { Configuration, Metrics } from "@shoal/service-runtime";
import { schemaLimits } from "./schema-limits.js";
import type { ServeOptions } from "./serve-options.js";
import type { StorageParts } from "./start-storage.js";

/** Who gets in, what people see, and what operators see. */
export interface GatewayFaces {
  readonly access: AccessControl;
  readonly pages: RequestListener;
  readonly metrics: Metrics | undefined;
}

/** The gateway over a coordinator and a storage node of the same process; `view` follows that coordinator. */
export function assembleGateway(
  options: ServeOptions,
  { coordinator, node, openFiles }: StorageParts,
  view: SchemaView,
  { access, pages, metrics }: GatewayFaces,
): Gateway {
  const { configuration, clock, logger, shoalVersion } = options;
  const profile = wireProfile(configuration.wireProfile);
  const router = new ShardMap({ node: (name) => (name === node.name ? node : undefined) });
  const classSettings = () => ({
    profile,
    defaultVectorizer: configuration.defaultVectorizerModule,
    nodeCount: 1,
    modules: NO_MODULES,
    propertiesPerClassMax: configuration.schemaClassPropertiesMax,
  });
  const { filterIdsMax, referencedRowsMax, groupComparisonsMax, aggregateBytesMax } = configuration;
  const queryBounds = { filterIdsMax, referencedRowsMax, groupComparisonsMax, aggregateBytesMax };
  const limits = {
    defaultLimit: configuration.queryDefaultsLimit,
    maximumResults: configuration.queryMaximumResults,
  };
  return createGateway(
    {
      ingest: new ObjectIngest({
        schema: view,
        router,
        schemaService: coordinator,
        profile,
        newId: randomUUID,
        nowMs: () => clock.now(),
        limits: INGEST_LIMITS,
        autoSchema: autoSchemaSettings(configuration, coordinator, classSettings),
      }),
      query: new QueryEngine({ schema: view, router, limits, ...queryBounds }),
      schema: coordinator,
      view,
      profile,
      classSettings,
      logger,
      clock,
      access,
      fallback: pages,
      ...(metrics === undefined ? {} : { metrics }),
    },
    { ...configuration, connectionsMax: openFiles.connectionsMax, shoalVersion },
  );
}

function autoSchemaSettings(
  configuration: Configuration,
  schemaService: SchemaCoordinator,
  classSettings: () => ClassSettings,
): AutoSchemaSettings | undefined {
  const { autoSchemaEnabled, autoSchemaDefaultString, autoSchemaDefaultNumber, autoSchemaDefaultDate } = configuration;
  if (!autoSchemaEnabled) return undefined;
  const types = { string: autoSchemaDefaultString, number: autoSchemaDefaultNumber, date: autoSchemaDefaultDate };
  return { types, schemaService, classSettings, schemaLimits: schemaLimits(configuration) };
}
