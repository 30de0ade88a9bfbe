import {
  isComplete,
  type NodeCarrier,
  type NodeDirectory,
  type NodeRecord,
  type NodeService,
  type ShardService,
} from "@shoal/rpc";
import type { ClusterNode, ClusterNodes, NodePool } from "./cluster-nodes.js";
import { RetryingNode, type RetryOptions } from "./retrying-node.js";

export interface RemoteNodePoolOptions extends RetryOptions {
  /** Begins to connect; which state that is in, it tells by itself. */
  readonly connect: (name: string, address: string) => NodeCarrier;
  /** The node of this process, which is called directly. */
  readonly local?: { readonly name: string; readonly service: ShardService } | undefined;
  /** The last known ones, until the coordinator reports them. */
  readonly remembered?: NodeDirectory | undefined;
}

interface PooledNode extends ClusterNode {
  /** Undefined: it is in this process. */
  readonly retrying: RetryingNode | undefined;
}

/** The storage nodes that the coordinator knows, one connection each, which is made again when the address changes. */
export class RemoteNodePool implements NodePool, ClusterNodes, Disposable {
  readonly #options: RemoteNodePoolOptions;
  readonly #subscription: Disposable;
  readonly #listeners = new Set<(directory: NodeDirectory) => void>();
  #directory: NodeDirectory | undefined;
  #isReported = false;
  #nodes: ReadonlyMap<string, PooledNode> = new Map();

  constructor(service: Pick<NodeService, "watch">, options: RemoteNodePoolOptions) {
    this.#options = options;
    if (options.remembered !== undefined) this.#follow(options.remembered);
    this.#subscription = service.watch((directory) => {
      this.#isReported = true;
      this.#follow(directory);
    });
  }

  node(name: string): ShardService | undefined {
    return this.#nodes.get(name)?.service;
  }

  get nodes(): readonly ClusterNode[] {
    return [...this.#nodes.values()];
  }

  isLost(name: string): boolean {
    return this.#nodes.get(name)?.retrying?.isLost ?? false;
  }

  /** The names of those that are lost: nothing new should be placed there. */
  get lostNodes(): readonly string[] {
    return [...this.#nodes.keys()].filter((name) => this.isLost(name));
  }

  /** Undefined until the coordinator has reported one, unless one was remembered. */
  get directory(): NodeDirectory | undefined {
    return this.#directory;
  }

  /** Whether a coordinator has reported the directory: one that was remembered may name addresses of long ago. */
  get isReported(): boolean {
    return this.#isReported;
  }

  /** Whether as many nodes as are expected have registered once, as far as is known. */
  get isComplete(): boolean {
    return this.#directory !== undefined && isComplete(this.#directory);
  }

  /** Called after every change of the directory. */
  onChange(listener: (directory: NodeDirectory) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#listeners.clear();
    for (const { retrying } of this.#nodes.values()) retrying?.[Symbol.dispose]();
    this.#nodes = new Map();
  }

  #follow(directory: NodeDirectory): void {
    const before = this.#nodes;
    this.#directory = directory;
    this.#nodes = new Map(
      directory.nodes.map((record) => [record.name, this.#pooled(record, before.get(record.name))]),
    );
    for (const [name, { retrying }] of before) if (!this.#nodes.has(name)) retrying?.[Symbol.dispose]();
    for (const listener of this.#listeners) listener(directory);
  }

  /** A node keeps its service over changes of its address: what waits for it goes on at the new one. */
  #pooled(record: NodeRecord, before: PooledNode | undefined): PooledNode {
    const { local, connect } = this.#options;
    const { name, address } = record;
    if (name === local?.name) return { record, service: local.service, retrying: undefined };
    const retrying = before?.retrying ?? new RetryingNode(name, this.#options);
    if (address !== undefined && address !== before?.record.address) retrying.connect(connect(name, address));
    return { record, service: retrying.service, retrying };
  }
}
