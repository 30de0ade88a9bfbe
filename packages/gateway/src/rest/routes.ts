import type { ClassificationService } from "@shoal/classification";
import type { ClusterNodes, SchemaView } from "@shoal/cluster";
import type { IngestService } from "@shoal/ingest";
import type { ClassSettings, WireProfile } from "@shoal/model";
import type { EnabledModules } from "@shoal/module-api";
import type { QueryService } from "@shoal/query";
import type { SchemaService } from "@shoal/rpc";
import type { Clock } from "@shoal/service-runtime";
import type { AccessBook } from "../authorization/access-book.js";
import type { Route } from "../http/route.js";
import { authzRoutes } from "./authz-routes.js";
import { type BatchSettings, batchRoutes } from "./batch-routes.js";
import { classificationRoutes } from "./classification-routes.js";
import { type InstanceRouteParts, instanceRoutes } from "./instance-routes.js";
import { type ListSettings, listRoute } from "./list-route.js";
import { moduleRoutes } from "./module-routes.js";
import { nodesRoute } from "./nodes-route.js";
import { ObjectWriter } from "./object-json.js";
import { objectRoutes } from "./object-routes.js";
import { referenceRoutes } from "./reference-routes.js";
import { schemaRoutes } from "./schema-routes.js";
import { usersRoutes } from "./users-routes.js";

export interface RestServices {
  readonly ingest: IngestService;
  readonly query: QueryService;
  readonly classifications: ClassificationService;
  readonly schema: SchemaService;
  readonly view: SchemaView;
  /** None when absent. */
  readonly nodes?: ClusterNodes;
  readonly profile: WireProfile;
  readonly classSettings: () => ClassSettings;
  readonly clock: Clock;
  /** Roles and users that are made at run time; none when absent. */
  readonly book?: AccessBook | undefined;
}

export interface RestSettings extends InstanceRouteParts, BatchSettings, ListSettings {
  readonly modules: EnabledModules;
}

const NO_NODES: ClusterNodes = { nodes: [] };

/** Every operation of the REST API. */
export function restRoutes(services: RestServices, settings: RestSettings): readonly Route[] {
  const { ingest, query, classifications, schema, view, profile, classSettings, clock } = services;
  const { nodes = NO_NODES } = services;
  const { modules } = settings;
  const { responses } = settings;
  const writer = new ObjectWriter(view, profile, settings.origin);
  const data: readonly Route[] = [
    nodesRoute(nodes, clock, (name) => view.classRecord(name)?.sharding.shards[0]?.copies?.length ?? 1),
    ...objectRoutes({ ingest, query, modules, writer, profile, responses }),
    listRoute(query, writer, settings),
    ...referenceRoutes(ingest, profile, settings.batchReferencesMax),
    ...batchRoutes(ingest, writer, clock, settings),
    ...schemaRoutes(schema, view, classSettings, profile),
    ...classificationRoutes(classifications, profile),
    ...authzRoutes(services.book),
    ...usersRoutes(services.book),
  ];
  return [...instanceRoutes(settings, profile), ...data, ...moduleRoutes(modules)];
}
