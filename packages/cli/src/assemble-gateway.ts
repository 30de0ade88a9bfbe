import { randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import { ClassificationRunner, Classifications } from "@shoal/classification";
import { type ClusterNodes, type CopyRoutesOptions, type NodePool, ShardMap } from "@shoal/cluster";
import { auditRefusedClassification, type PageFile } from "@shoal/gateway";
import type { PagesParts } from "@shoal/gateway/pages";
import { createGateway, type Gateway, type GatewayDependencies } from "@shoal/gateway/server";
import { type AutoSchemaSettings, INGEST_LIMITS, type MadeByAutoSchema, ObjectIngest } from "@shoal/ingest";
import { type ClassSettings, DEFAULT_WHERE_LIMITS, wireProfile } from "@shoal/model";
import type { EnabledModules } from "@shoal/module-api";
import { QueryEngine } from "@shoal/query";
import type { JobService, SchemaService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { type Configuration, RateLimitedLogger, type ResourceScope } from "@shoal/service-runtime";
import { loadSwaggerUi } from "./load-swagger-ui.js";
import type { ProcessOptions } from "./process-options.js";

/** What a gateway asks, whether it is in the same process or far away; who gets in, and what people and operators see. */
export interface GatewayParts
  extends Pick<GatewayDependencies, "schema" | "view" | "access" | "audit" | "book" | "metrics" | "certificate"> {
  readonly jobs: JobService;
  /** Names this process among those that work on jobs. */
  readonly worker: string;
  readonly pool: NodePool & ClusterNodes;
  /** How questions reach shards with copies; absent: there are none. */
  readonly copies?: CopyRoutesOptions;
  /** Shards of a class that does not say how many. */
  readonly nodeCount: () => number;
  readonly modules: EnabledModules;
  /** Of the console. */
  readonly pages: readonly PageFile[];
  readonly connectionsMax: number;
}

/** The gateway, with ingest, query and classification, over its parts. */
export function assembleGateway(
  options: ProcessOptions,
  { jobs, worker, pool, copies, nodeCount, pages, connectionsMax, ...parts }: GatewayParts,
  scope: ResourceScope,
): Gateway {
  const { schema, view, modules, access, book } = parts;
  const { configuration, clock, logger, shoalVersion } = options;
  const nowMs = () => clock.now();
  const profile = wireProfile(configuration.wireProfile);
  const router = new ShardMap(pool, copies);
  const classSettings = () => ({
    profile,
    defaultVectorizer: configuration.defaultVectorizerModule,
    nodeCount: nodeCount(),
    modules: modules.classRules,
    propertiesPerClassMax: configuration.schemaClassPropertiesMax,
  });
  const { filterIdsMax, referencedRowsMax, aggregateBytesMax, filterClausesMax, filterValuesMax } = configuration;
  const queryBounds = { filterIdsMax, referencedRowsMax, aggregateBytesMax };
  const limits = {
    defaultLimit: configuration.queryDefaultsLimit,
    maximumResults: configuration.queryMaximumResults,
  };
  const roles = book?.hasRoles === true ? book : undefined;
  const ingest = new ObjectIngest({
    schema: view,
    router,
    schemaService: schema,
    modules,
    profile,
    newId: randomUUID,
    nowMs,
    limits: INGEST_LIMITS,
    rightsOf: roles && ((holder) => roles.rightsOf(holder)),
    autoSchema: autoSchemaSettings(configuration, schema, classSettings, new RateLimitedLogger(logger, clock)),
  });
  const query = new QueryEngine({ schema: view, router, limits, modules, ...queryBounds });
  const filters = { schema: view, router, filterIdsMax };
  const whereLimits = { ...DEFAULT_WHERE_LIMITS, filterClausesMax, filterValuesMax };
  const gateway = createGateway(
    {
      ingest,
      query,
      classifications: new Classifications({
        ...{ jobs, view, query, modules, whereLimits },
        newId: randomUUID,
        nowMs,
      }),
      ...parts,
      nodes: pool,
      profile,
      classSettings,
      logger,
      clock,
      fallback: pagesWhenAsked({
        console: { files: pages },
        // Read when they are first asked for.
        docs: { load: loadSwaggerUi, origin: configuration.origin },
        access,
        logger,
      }),
    },
    { ...configuration, connectionsMax, shoalVersion },
  );
  scope.use(
    new ClassificationRunner({
      ...{ jobs, worker, nowMs, view, router, filters, modules, profile, whereLimits },
      rightsOf: roles && ((holder, context) => roles.latestRightsOf(holder, context)),
      onForbidden: ({ id, className }, startedBy, { message: reason }) => {
        if (gateway.audit) auditRefusedClassification(gateway.audit, { id, className, startedBy, reason });
      },
      onFailure: (error) => logger.warn({ error }, "a classification has to wait"),
    }),
  );
  return gateway;
}

/** Pages for people need Express, half of what a gateway would load: they are made when somebody asks for the first one. */
function pagesWhenAsked(parts: PagesParts): RequestListener {
  let made: Promise<RequestListener> | undefined;
  return (request, response) => {
    made ??= import("@shoal/gateway/pages").then(({ createPages }) => createPages(parts));
    made.then(
      (pages) => pages(request, response),
      (error: unknown) => {
        // The next one tries again.
        made = undefined;
        parts.logger.error({ error }, "the pages for people cannot be loaded");
        response.writeHead(500).end();
      },
    );
  };
}

function autoSchemaSettings(
  configuration: Configuration,
  schemaService: SchemaService,
  classSettings: () => ClassSettings,
  logger: RateLimitedLogger,
): AutoSchemaSettings | undefined {
  const { autoSchemaEnabled, autoSchemaDefaultString, autoSchemaDefaultNumber, autoSchemaDefaultDate } = configuration;
  if (!autoSchemaEnabled) return undefined;
  const types = { string: autoSchemaDefaultString, number: autoSchemaDefaultNumber, date: autoSchemaDefaultDate };
  const onMade = (one: MadeByAutoSchema, { requestId, observer }: RequestContext): void => {
    const { isNewClass, isUnknown = false, ...made } = one;
    const message = isNewClass ? "auto-schema has made a class" : "auto-schema has added properties to a class";
    if (!isUnknown) logger.rarely({ ...made, requestId }, message);
    observer?.madeSchema(made.className, Object.keys(made.properties), isNewClass, isUnknown);
  };
  const { schemaClassesMax: classesMax, schemaClassPropertiesMax: propertiesPerClassMax } = configuration;
  return { types, schemaService, classSettings, schemaLimits: { classesMax, propertiesPerClassMax }, onMade };
}
