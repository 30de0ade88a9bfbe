import type { RequestListener } from "node:http";
import type { ClassificationService } from "@shoal/classification";
import type { ClusterNodes, SchemaView } from "@shoal/cluster";
import type { IngestService } from "@shoal/ingest";
import type { ClassSettings, WireProfile } from "@shoal/model";
import { type EnabledModules, NO_ENABLED_MODULES } from "@shoal/module-api";
import type { QueryService } from "@shoal/query";
import type { SchemaService } from "@shoal/rpc";
import {
  type AuthenticationConfiguration,
  type Clock,
  type Logger,
  type Metrics,
  RateLimitedLogger,
} from "@shoal/service-runtime";
import { AuditLog, type AuditSink } from "./audit/audit-log.js";
import type { AccessControl } from "./auth/access.js";
import { discoveryUrl } from "./auth/discovery.js";
import type { AccessBook } from "./authorization/access-book.js";
import { PermittedClassifications } from "./authorization/permitted-classifications.js";
import { PermittedIngest } from "./authorization/permitted-ingest.js";
import { PermittedQueries } from "./authorization/permitted-queries.js";
import { describeGatewayMetrics, GatewayStatistics } from "./gateway-statistics.js";
import { GraphQlHandler } from "./graphql/handler.js";
import { DEFAULT_GRAPHQL_LIMITS, type GraphQlLimits } from "./graphql/limits.js";
import { graphQlRoutes } from "./graphql-route.js";
import { HttpServer } from "./http/http-server.js";
import type { HttpServerSettings, ServerCertificateSource } from "./http/http-server-settings.js";
import type { Route } from "./http/route.js";
import { ResponseBudget } from "./response-budget.js";
import { withCheckedParameters } from "./rest/check-parameters.js";
import { INTERFACE_VERSION } from "./rest/instance-routes.js";
import { type DocumentParts, isOf } from "./rest/openapi/document.js";
import { describedOperations, openApiRoute } from "./rest/openapi/openapi-route.js";
import { restRoutes } from "./rest/routes.js";
import { RowGate } from "./row-gate.js";

/** What a gateway stands on. */
export interface GatewayDependencies {
  readonly ingest: IngestService;
  readonly query: QueryService;
  readonly classifications: ClassificationService;
  readonly schema: SchemaService;
  readonly view: SchemaView;
  /** What `GET /v1/nodes` shows; none when absent. */
  readonly nodes?: ClusterNodes;
  readonly profile: WireProfile;
  /** Defaults of new classes, as they are now (the number of nodes changes). */
  readonly classSettings: () => ClassSettings;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly access: AccessControl;
  /** Where the audit log goes, and what it calls this process; none when absent. */
  readonly audit?: { readonly sink: AuditSink; readonly server: string } | undefined;
  /** That of `access`; absent: there are no roles, and no users that are made at run time. */
  readonly book?: AccessBook | undefined;
  /** None when absent. */
  readonly modules?: EnabledModules;
  /** Where the gateway tells of itself. */
  readonly metrics?: Metrics | undefined;
  /** Takes the requests outside of `/v1` that no route takes, e.g. an Express application with pages for people. */
  readonly fallback?: RequestListener;
  /** Absent: it speaks plain HTTP. */
  readonly certificate?: ServerCertificateSource | undefined;
}

type SetLimits =
  | "filterClausesMax"
  | "filterValuesMax"
  | "graphqlRowsMax"
  | "graphqlCostMax"
  | "graphqlClassFieldsMax"
  | "graphqlBatchRequestsMax"
  | "graphqlDepthMax"
  | "answerBytesMax";

export interface GatewaySettings extends HttpServerSettings, Pick<GraphQlLimits, SetLimits> {
  readonly origin: string;
  readonly queryDefaultsLimit: number;
  readonly queryMaximumResults: number;
  readonly batchObjectsMax: number;
  readonly batchReferencesMax: number;
  readonly authentication: AuthenticationConfiguration;
  /** Version of this server, for `GET /v1/meta`. */
  readonly shoalVersion: string;
}

/** The HTTP face of a process. */
export interface Gateway extends AsyncDisposable {
  /** Every operation under `/v1`. */
  readonly routes: readonly Route[];
  /** For what other ports are asked; undefined when there is none. */
  readonly audit: AuditLog | undefined;
  /** Starts to listen; `ready` stays 503 until {@link markReady}. The address with the port that was taken. */
  listen(): Promise<{ readonly host: string; readonly port: number; readonly url: string }>;
  /** What `/v1/.well-known/ready` says. */
  readonly isReady: boolean;
  /** Lets it be true. */
  markReady(): void;
  /** `ready` turns 503, requests in flight finish, no new connections; see HttpServer.drain. */
  drain(): Promise<void>;
  /** Cuts whatever is left. */
  stop(): Promise<void>;
}

/** Builds a gateway; nothing listens before `listen`. */
export function createGateway(dependencies: GatewayDependencies, settings: GatewaySettings): Gateway {
  let ready = false;
  let address = "";
  // Strangers decide how often its lines are due.
  const logger = new RateLimitedLogger(dependencies.logger, dependencies.clock);
  const services = { ...permitted(dependencies), logger };
  const { query, view, profile, access, clock, metrics, modules = NO_ENABLED_MODULES } = services;
  const statistics = new GatewayStatistics();
  const hasClass = (className: string): boolean => view.classRecord(className) !== undefined;
  const audit = dependencies.audit && new AuditLog({ ...dependencies.audit, clock, hasClass });
  const rowGate = new RowGate();
  const responses = new ResponseBudget(settings);
  const graphQl = new GraphQlHandler({
    schema: view,
    query,
    wire: profile,
    modules,
    limits: graphQlLimits(settings),
    responses,
    rowGate,
    statistics: statistics.graphQl,
    onFault: (error, { requestId }) => logger.error({ requestId, error }, "a GraphQL field failed"),
    onSkippedClass: (skipped) => logger.warn(skipped, "a class has no place in the GraphQL schema"),
  });
  const isReady = (): boolean => ready && !server.isDraining;
  const rest = restRoutes(services, {
    ...settings,
    modules,
    onBatch: statistics.countBatch,
    responses,
    rowGate,
    address: () => address,
    isReady,
    openId: access.openId,
    methods: access.methods,
  });
  const served = [...rest, ...graphQlRoutes(graphQl)];
  const operations = describedOperations(profile, modules);
  const routes = [...served, openApiRoute(served, operations, documentParts(settings))].map((route) =>
    withCheckedParameters(
      route,
      operations.find((operation) => isOf(operation, route)),
    ),
  );
  const { fallback, certificate } = dependencies;
  const parts = { access, clock, logger, audit, metrics, fallback, certificate, responses };
  const server = new HttpServer(routes, settings, parts);
  if (metrics !== undefined) describeGatewayMetrics(metrics, statistics, rowGate);
  const stop = async (): Promise<void> => {
    await server.stop();
    audit?.[Symbol.dispose]();
  };
  return {
    routes,
    audit,
    async listen() {
      const { host, port } = await server.listen();
      address = `${certificate === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
      return { host, port, url: address };
    },
    get isReady() {
      return isReady();
    },
    markReady() {
      ready = true;
    },
    drain: () => server.drain(),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The services, behind what looks whether their users may, where roles are on. */
function permitted(dependencies: GatewayDependencies): GatewayDependencies {
  const { ingest, query, classifications, view, book } = dependencies;
  if (book?.hasRoles !== true) return dependencies;
  return {
    ...dependencies,
    ingest: new PermittedIngest(ingest, book.newId),
    query: new PermittedQueries(query),
    classifications: new PermittedClassifications(classifications, view),
  };
}

function graphQlLimits(settings: GatewaySettings): Partial<GraphQlLimits> {
  const { graphqlRowsMax, queryDefaultsLimit, queryMaximumResults } = settings;
  return {
    ...settings,
    graphqlRowsMax: Math.max(graphqlRowsMax, queryMaximumResults),
    getRowsDefault: Math.max(DEFAULT_GRAPHQL_LIMITS.getRowsDefault, queryDefaultsLimit),
    getRowsMax: queryMaximumResults,
  };
}

function documentParts({ authentication, origin, shoalVersion }: GatewaySettings): DocumentParts {
  const { anonymousAccess, apiKeys, oidc } = authentication;
  return {
    version: INTERFACE_VERSION,
    shoalVersion,
    origin,
    anonymousAccess,
    openIdConnectUrl: oidc && discoveryUrl(oidc.issuer),
    takesApiKeys: apiKeys !== undefined,
  };
}
