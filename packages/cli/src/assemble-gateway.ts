import { randomUUID } from "node:crypto";
import { ClassificationRunner, Classifications } from "@shoal/classification";
import { type ClusterNodes, type NodePool, type SchemaView, ShardMap } from "@shoal/cluster";
import {
  type AccessBook,
  type AccessControl,
  auditRefusedClassification,
  type PageFile,
  type ServerCertificateSource,
} from "@shoal/gateway";
import { createGateway, createPages, type Gateway, type GatewayDependencies } from "@shoal/gateway/server";
import { type AutoSchemaSettings, INGEST_LIMITS, type MadeByAutoSchema, ObjectIngest } from "@shoal/ingest";
import { type ClassSettings, DEFAULT_WHERE_LIMITS, wireProfile } from "@shoal/model";
import type { EnabledModules } from "@shoal/module-api";
import { QueryEngine } from "@shoal/query";
import type { JobService, SchemaService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { type Configuration, type Metrics, RateLimitedLogger, type ResourceScope } from "@shoal/service-runtime";
import { loadSwaggerUi } from "./load-swagger-ui.js";
import type { ProcessOptions } from "./process-options.js";

/** Who gets in, what people see, and what operators see. */
export interface GatewayFaces {
  readonly access: AccessControl;
  readonly audit: GatewayDependencies["audit"];
  readonly book: AccessBook | undefined;
  /** Of the console. */
  readonly pages: readonly PageFile[];
  readonly metrics: Metrics | undefined;
  /** Undefined: HTTP in the clear. */
  readonly certificate: ServerCertificateSource | undefined;
}

/** What a gateway asks, whether it is in the same process or far away. */
export interface GatewayGround {
  readonly schema: SchemaService;
  readonly jobs: JobService;
  /** Names this process among those that work on jobs. */
  readonly worker: string;
  /** Follows `schema`. */
  readonly view: SchemaView;
  readonly pool: NodePool & ClusterNodes;
  /** Shards of a class that does not say how many. */
  readonly nodeCount: () => number;
  readonly modules: EnabledModules;
  readonly connectionsMax: number;
}

/** The gateway, with ingest, query and classification, over whatever stands in `ground`. */
export function assembleGateway(
  options: ProcessOptions,
  { schema, jobs, worker, view, pool, nodeCount, modules, connectionsMax }: GatewayGround,
  { access, audit, book, pages, metrics, certificate }: GatewayFaces,
  scope: ResourceScope,
): Gateway {
  const { configuration, clock, logger, shoalVersion } = options;
  const profile = wireProfile(configuration.wireProfile);
  const router = new ShardMap(pool);
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
    nowMs: () => clock.now(),
    limits: INGEST_LIMITS,
    rightsOf: roles && ((holder) => roles.rightsOf(holder)),
    autoSchema: autoSchemaSettings(configuration, schema, classSettings, new RateLimitedLogger(logger, clock)),
  });
  const query = new QueryEngine({ schema: view, router, limits, modules, ...queryBounds });
  const nowMs = () => clock.now();
  const filters = { schema: view, router, filterIdsMax };
  const whereLimits = { ...DEFAULT_WHERE_LIMITS, filterClausesMax, filterValuesMax };
  const gateway = createGateway(
    {
      ingest,
      query,
      classifications: new Classifications({
        ...{ jobs, view, query, modules, whereLimits },
        newId: randomUUID,
        nowMs: () => clock.now(),
      }),
      schema,
      view,
      nodes: pool,
      profile,
      classSettings,
      logger,
      clock,
      access,
      book,
      modules,
      fallback: createPages({
        console: { files: pages },
        // Read when they are first asked for.
        docs: { load: loadSwaggerUi, origin: configuration.origin },
        access,
        logger,
      }),
      ...(metrics === undefined ? {} : { metrics }),
      ...(certificate === undefined ? {} : { certificate }),
      ...(audit === undefined ? {} : { audit }),
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
