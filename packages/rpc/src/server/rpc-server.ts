import { setMaxListeners } from "node:events";
import { Server, type ServiceDefinition } from "@grpc/grpc-js";
import type { AccessService } from "../access-service.js";
import {
  ACCESS_SERVICE,
  COPIES_SERVICE,
  type CoordinatorService,
  EXTENSIONS_SERVICE,
  JOBS_SERVICE,
  NODES_SERVICE,
  SCHEMA_SERVICE,
} from "../coordinator-services.js";
import type { CopyService } from "../copy-service.js";
import type { ExtensionService } from "../extension-service.js";
import type { JobService } from "../job-service.js";
import type { NodePresence, NodeService } from "../node-service.js";
import type { PeerReceiver } from "../peer-connection.js";
import type { ServedSchema } from "../schema-service.js";
import type { PacketStream } from "../stream/frame-stream.js";
import { PEERS, SHARDS } from "../wire/packet-codec.js";
import { IDENTITY } from "../wire/services.js";
import { boundedCalls, CONNECTION_CALLS_MAX } from "./bounded-calls.js";
import { explainNode, nodeNameOf, ofOneCluster, onlyAsItself, onlyFor } from "./callers.js";
import { coordinatorHandlers, unaryHandler } from "./coordinator-handlers.js";
import { type ListenOptions, listenForPeers } from "./listen-for-peers.js";
import { type PeerCall, PeerServing } from "./peer-serving.js";
import type { ServedNode, ShardServingLimits } from "./shard-server.js";
import { ShardServing } from "./shard-serving.js";

/** What a process serves to the others; at least one of them. */
export interface RpcServices {
  readonly node?: ServedNode;
  /** With `node`: the reply to coordinators that ask who is here. */
  readonly presence?: NodePresence;
  /** With `node`: what it does with messages of other storage nodes. They come until the process ends, in a drain too. */
  readonly peers?: PeerReceiver;
  readonly schema?: ServedSchema;
  readonly nodes?: NodeService;
  readonly jobs?: JobService;
  readonly extensions?: ExtensionService;
  readonly access?: AccessService;
  readonly copies?: CopyService;
}

export interface RpcServerOptions extends ListenOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Callers of the coordinator's services, and other storage nodes, that name another cluster are refused. Absent: nobody is. */
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
export interface RpcServer extends AsyncDisposable {
  /** The port that it listens on. */
  readonly port: number;
  /** Tells every caller that this process ends, takes nothing new, and resolves when everything begun is answered. */
  drain(): Promise<void>;
  /** Ends at once; what is under way fails at its callers. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Listens, and serves the services that are given. Fails with `unavailable` when the port is taken. */
export async function createRpcServer(services: RpcServices, options: RpcServerOptions): Promise<RpcServer> {
  const server = new Server({
    "grpc.max_receive_message_length": REQUEST_BYTES_MAX,
    "grpc.max_send_message_length": -1,
    "grpc.keepalive_time_ms": KEEPALIVE_MS,
    "grpc.keepalive_timeout_ms": KEEPALIVE_MS,
    "grpc.max_connection_idle_ms": IDLE_MS_MAX,
    "grpc.max_concurrent_streams": CONNECTION_CALLS_MAX,
    interceptors: [boundedCalls()],
  });
  const stopped = new AbortController();
  // Every stream that is open listens.
  setMaxListeners(0, stopped.signal);
  const { node, peers } = services;
  const shards = node && new ShardServing(node, options);
  const receiving = node && peers && new PeerServing(node, peers, options);
  addServices(server, services, { shards, receiving }, options, stopped.signal);
  const listening = await listenForPeers(server, options);
  return {
    port: listening.port,
    drain: async () => shards?.drain(),
    async [Symbol.asyncDispose]() {
      listening[Symbol.dispose]();
      stopped.abort();
      shards?.[Symbol.dispose]();
      receiving?.[Symbol.dispose]();
      // Streams that have just been ended get the chance to say so, and what they said before.
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, CLOSE_MS_MAX);
        server.tryShutdown(() => {
          clearTimeout(timer);
          resolve();
        });
      });
      server.forceShutdown();
    },
  };
}

function addServices(
  server: Server,
  { presence, schema, nodes, jobs, extensions, access, copies }: RpcServices,
  { shards, receiving }: { readonly shards: ShardServing | undefined; readonly receiving: PeerServing | undefined },
  { tls, clusterId = () => undefined }: Pick<RpcServerOptions, "tls" | "clusterId">,
  stopped: AbortSignal,
): void {
  const isSecure = tls !== undefined;
  const only: typeof onlyFor = isSecure ? onlyFor : (_role, handlers) => handlers;
  const add = <Service extends object>(described: CoordinatorService<Service>, service: Service | undefined): void => {
    if (service === undefined) return;
    const { calls } = described;
    const handlers = coordinatorHandlers(described, service, { isSecure, stopped });
    const guarded = only("gateway", handlers, (method) => calls[method]?.isForAll === true);
    server.addService(calls as ServiceDefinition, ofOneCluster(guarded, clusterId));
  };
  if (shards !== undefined) {
    server.addService(SHARDS, only("gateway", { Talk: (call: PacketStream) => shards.serve(call) }));
  }
  if (receiving !== undefined) {
    const handlers = { Deliver: (call: PeerCall) => receiving.serve(call, nodeNameOf(call)) };
    server.addService(PEERS, ofOneCluster(isSecure ? onlyAsItself(handlers) : handlers, clusterId, explainNode));
  }
  if (presence !== undefined) {
    server.addService(IDENTITY, only("coordinator", { Identify: unaryHandler(async () => presence) }));
  }
  add(SCHEMA_SERVICE, schema);
  add(NODES_SERVICE, nodes);
  add(JOBS_SERVICE, jobs);
  add(EXTENSIONS_SERVICE, extensions);
  add(ACCESS_SERVICE, access);
  add(COPIES_SERVICE, copies);
}
