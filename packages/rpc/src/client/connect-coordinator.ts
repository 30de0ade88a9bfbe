import type { AccessService } from "../access-service.js";
import {
  ACCESS_SERVICE,
  COPIES_SERVICE,
  EXTENSIONS_SERVICE,
  JOBS_SERVICE,
  NODES_SERVICE,
  SCHEMA_SERVICE,
} from "../coordinator-services.js";
import type { CopyService } from "../copy-service.js";
import type { ExtensionService } from "../extension-service.js";
import type { JobService } from "../job-service.js";
import type { NodeService } from "../node-service.js";
import type { ServedSchema } from "../schema-service.js";
import { CoordinatorCalls, type CoordinatorCallsOptions } from "./coordinator-calls.js";
import { coordinatorClient } from "./coordinator-client.js";

export interface ConnectCoordinatorOptions extends CoordinatorCallsOptions {
  /** Called whenever that changes: whether a coordinator is streaming changes of the schema. */
  readonly onReachable?: (isReachable: boolean) => void;
  /** Names of the storage nodes that this process does not reach now: new classes are not placed there. None when absent. */
  readonly lostNodes?: () => readonly string[];
}

/** The clients of what coordinators serve. */
export interface CoordinatorConnection extends Disposable {
  readonly schema: ServedSchema;
  readonly nodes: NodeService;
  /** Connects when it is first asked for. */
  readonly jobs: JobService;
  /** As {@link jobs}. */
  readonly extensions: ExtensionService;
  /** As {@link jobs}. */
  readonly access: AccessService;
  /** As {@link jobs}. */
  readonly copies: CopyService;
  /** Whether a coordinator is streaming changes of the schema right now. */
  readonly isReachable: boolean;
  /** The cluster of the coordinator that has refused this process last, until one answers. */
  readonly foreignClusterId: string | undefined;
}

/** Connects to any of the coordinators at `addresses` (`host:port`), and to another one when it is lost. */
export function connectCoordinator(
  addresses: readonly string[],
  options: ConnectCoordinatorOptions,
): CoordinatorConnection {
  const { lostNodes = () => [] } = options;
  const calls = new CoordinatorCalls(addresses, options);
  const opened: Disposable[] = [calls];
  const keep = <Client extends Disposable>(client: Client): Client => {
    opened.push(client);
    return client;
  };
  let isReachable = false;
  const schema = keep(
    coordinatorClient(calls, SCHEMA_SERVICE, (reachable) => {
      if (reachable === isReachable) return;
      isReachable = reachable;
      options.onReachable?.(reachable);
    }),
  );
  const nodes = keep(coordinatorClient(calls, NODES_SERVICE));
  let jobs: JobService | undefined;
  let extensions: ExtensionService | undefined;
  let access: AccessService | undefined;
  let copies: CopyService | undefined;
  return {
    schema: {
      ...schema,
      addClass: (definition, context, plan) =>
        schema.addClass(definition, context, { lostNodes: lostNodes(), ...plan }),
      ensureClass: (definition, context, plan) =>
        schema.ensureClass(definition, context, { lostNodes: lostNodes(), ...plan }),
    },
    nodes,
    get jobs() {
      jobs ??= keep(coordinatorClient(calls, JOBS_SERVICE));
      return jobs;
    },
    get extensions() {
      extensions ??= keep(coordinatorClient(calls, EXTENSIONS_SERVICE));
      return extensions;
    },
    get access() {
      access ??= keep(coordinatorClient(calls, ACCESS_SERVICE));
      return access;
    },
    get copies() {
      copies ??= keep(coordinatorClient(calls, COPIES_SERVICE));
      return copies;
    },
    get isReachable() {
      return isReachable;
    },
    get foreignClusterId() {
      return calls.foreignClusterId;
    },
    [Symbol.dispose]() {
      for (const one of opened.reverse()) one[Symbol.dispose]();
    },
  };
}
