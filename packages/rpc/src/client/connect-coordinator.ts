import { CoordinatorAccess } from "./coordinator-access.js";
import { CoordinatorCalls, type CoordinatorCallsOptions } from "./coordinator-calls.js";
import { CoordinatorExtensions } from "./coordinator-extensions.js";
import { CoordinatorJobs } from "./coordinator-jobs.js";
import { CoordinatorNodes } from "./coordinator-nodes.js";
import { CoordinatorSchema } from "./coordinator-schema.js";

export interface ConnectCoordinatorOptions extends CoordinatorCallsOptions {
  /** Called whenever that changes: whether a coordinator tells of changes of the schema. */
  readonly onReachable?: (isReachable: boolean) => void;
  /** Names of the storage nodes that this process does not reach now: new classes are not placed there. None when absent. */
  readonly lostNodes?: () => readonly string[];
}

/** The clients of what coordinators serve. */
export interface CoordinatorConnection extends Disposable {
  readonly schema: CoordinatorSchema;
  readonly nodes: CoordinatorNodes;
  /** Connects when it is first asked for. */
  readonly jobs: CoordinatorJobs;
  /** As {@link jobs}. */
  readonly extensions: CoordinatorExtensions;
  /** As {@link jobs}. */
  readonly access: CoordinatorAccess;
  /** Whether a coordinator tells of changes of the schema right now. */
  readonly isReachable: boolean;
  /** The cluster of the coordinator that has refused this process last, until one answers. */
  readonly foreignClusterId: string | undefined;
}

/** Connects to any of the coordinators at `addresses` (`host:port`), and to another one when it is lost. */
export function connectCoordinator(
  addresses: readonly string[],
  options: ConnectCoordinatorOptions,
): CoordinatorConnection {
  const calls = new CoordinatorCalls(addresses, options);
  let isReachable = false;
  const onReachable = (reachable: boolean): void => {
    if (reachable === isReachable) return;
    isReachable = reachable;
    options.onReachable?.(reachable);
  };
  const schema = new CoordinatorSchema(calls, onReachable, options.lostNodes ?? (() => []));
  const nodes = new CoordinatorNodes(calls);
  let jobs: CoordinatorJobs | undefined;
  let extensions: CoordinatorExtensions | undefined;
  let access: CoordinatorAccess | undefined;
  return {
    schema,
    nodes,
    get jobs() {
      jobs ??= new CoordinatorJobs(calls);
      return jobs;
    },
    get extensions() {
      extensions ??= new CoordinatorExtensions(calls);
      return extensions;
    },
    get access() {
      access ??= new CoordinatorAccess(calls);
      return access;
    },
    get isReachable() {
      return isReachable;
    },
    get foreignClusterId() {
      return calls.foreignClusterId;
    },
    [Symbol.dispose]() {
      schema[Symbol.dispose]();
      nodes[Symbol.dispose]();
      jobs?.[Symbol.dispose]();
      extensions?.[Symbol.dispose]();
      access?.[Symbol.dispose]();
      calls[Symbol.dispose]();
    },
  };
}
