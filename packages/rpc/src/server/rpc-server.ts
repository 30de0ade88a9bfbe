import { setMaxListeners } from "node:events";
import { Server, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";
import type { AccessService } from "../access-service.js";
import type { ExtensionService } from "../extension-service.js";
import type { JobService } from "../job-service.js";
import type { NodePresence, NodeService } from "../node-service.js";
import type { ServedSchema } from "../schema-service.js";
import type { PacketStream } from "../stream/frame-stream.js";
import { SHARDS } from "../wire/packet-codec.js";
import { ACCESS, EXTENSIONS, IDENTITY, JOBS, NODES, SCHEMA } from "../wire/services.js";
import { accessHandlers } from "./access-handlers.js";
import { extensionsHandlers } from "./extensions-handlers.js";
import { forCoordinators, forGateways } from "./for-gateways.js";
import { identityHandlers } from "./identity-handlers.js";
import { jobsHandlers } from "./jobs-handlers.js";
import { type ListenedPort, type ListenOptions, listenForPeers } from "./listen-for-peers.js";
import { nodesHandlers } from "./nodes-handlers.js";
import { ofOneCluster } from "./of-one-cluster.js";
import { schemaHandlers } from "./schema-handlers.js";
import type { ServedNode } from "./shard-server.js";
import { ShardServing, type ShardServingLimits } from "./shard-serving.js";

/** What a process serves to the others; at least one of them. */
export interface RpcServices {
  readonly node?: ServedNode;
  /** With `node`: what coordinators are told that ask who is here. */
  readonly presence?: NodePresence;
  readonly schema?: ServedSchema;
  readonly nodes?: NodeService;
  readonly jobs?: JobService;
  readonly extensions?: ExtensionService;
  readonly access?: AccessService;
}

export interface RpcServerOptions extends ListenOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Callers of the coordinator's services that name another cluster are refused. Absent: nobody is. */
  readonly clusterId?: () => string | undefined;
  readonly limits?: Partial<ShardServingLimits>;
}

/** What may come: a packet of a stream, or the definition of a class. */
const REQUEST_BYTES_MAX = 16 * 1024 * 1024;
const KEEPALIVE_MS = 10_000;
/**
 * A connection without a call is ended by then, or it would keep its place from others: a channel of grpc-js that is closed
 * while it waits for its next attempt makes that attempt, and nobody uses what comes of it. The next call connects again.
 */
const IDLE_MS_MAX = 10_000;
/** What has been sent has left by then, unless nobody takes it. */
const CLOSE_MS_MAX = 3_000;

/** The server of every service that a process offers to the others. */
export class RpcServer implements AsyncDisposable {
  /** The port that it listens on. */
  readonly port: number;
  readonly #server: Server;
  readonly #listening: ListenedPort;
  readonly #shards: ShardServing | undefined;
  readonly #stopped: AbortController;

  private constructor(
    server: Server,
    listening: ListenedPort,
    shards: ShardServing | undefined,
    stopped: AbortController,
  ) {
    this.port = listening.port;
    this.#server = server;
    this.#listening = listening;
    this.#shards = shards;
    this.#stopped = stopped;
  }

  static async listen(services: RpcServices, options: RpcServerOptions): Promise<RpcServer> {
    const server = new Server({
      "grpc.max_receive_message_length": REQUEST_BYTES_MAX,
      "grpc.max_send_message_length": -1,
      "grpc.keepalive_time_ms": KEEPALIVE_MS,
      "grpc.keepalive_timeout_ms": KEEPALIVE_MS,
      "grpc.max_connection_idle_ms": IDLE_MS_MAX,
    });
    const stopped = new AbortController();
    // Every stream that is open listens.
    setMaxListeners(0, stopped.signal);
    const shards = services.node === undefined ? undefined : new ShardServing(services.node, options);
    addServices(server, services, shards, options, stopped.signal);
    const listening = await listenForPeers(server, options);
    return new RpcServer(server, listening, shards, stopped);
  }

  /** Tells every caller that this process ends, takes nothing new, and resolves when everything begun is answered. */
  async drain(): Promise<void> {
    await this.#shards?.drain();
  }

  /** Ends at once; what is under way fails at its callers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#listening[Symbol.dispose]();
    this.#stopped.abort();
    this.#shards?.[Symbol.dispose]();
    // Streams that have just been ended get the chance to say so, and what they said before.
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS_MAX);
      this.#server.tryShutdown(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    this.#server.forceShutdown();
  }
}

/** What processes without a gateway's certificate may call is named here. */
function addServices(
  server: Server,
  { presence, schema, nodes, jobs, extensions, access }: RpcServices,
  shards: ShardServing | undefined,
  { tls, clusterId = () => undefined }: Pick<RpcServerOptions, "tls" | "clusterId">,
  stopped: AbortSignal,
): void {
  const isSecure = tls !== undefined;
  const only: typeof forGateways = isSecure ? forGateways : (handlers) => handlers;
  const add = <Handlers extends UntypedServiceImplementation>(
    definition: ServiceDefinition,
    handlers: Handlers,
    open: readonly (keyof Handlers & string)[],
  ): void => server.addService(definition, ofOneCluster(only(handlers, open), clusterId));
  if (shards !== undefined) server.addService(SHARDS, only({ Talk: (call: PacketStream) => shards.serve(call) }, []));
  if (presence !== undefined) {
    const handlers = identityHandlers(presence);
    server.addService(IDENTITY, isSecure ? forCoordinators(handlers) : handlers);
  }
  if (schema !== undefined) add(SCHEMA, schemaHandlers(schema, stopped), ["Current", "Watch"]);
  if (nodes !== undefined) add(NODES, nodesHandlers(nodes, isSecure, stopped), ["Register", "ConfirmDropped", "Watch"]);
  if (jobs !== undefined) add(JOBS, jobsHandlers(jobs, stopped), []);
  if (extensions !== undefined) add(EXTENSIONS, extensionsHandlers(extensions, stopped), []);
  if (access !== undefined) add(ACCESS, accessHandlers(access, stopped), []);
}

/** Listens, and serves the services that are given. Fails with `unavailable` when the port is taken. */
export function createRpcServer(services: RpcServices, options: RpcServerOptions): Promise<RpcServer> {
  return RpcServer.listen(services, options);
}
