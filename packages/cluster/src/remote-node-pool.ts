import {
  isComplete,
  type NodeConnection,
  type NodeDirectory,
  type NodeRecord,
  type NodeService,
  type ShardService,
} from "@shoal/rpc";
import type { ClusterNode, ClusterNodes, NodePool } from "./cluster-nodes.js";
import { type PatienceOptions, PatientNode } from "./patient-node.js";

export interface RemoteNodePoolOptions extends PatienceOptions {
  /** Begins to connect; which state that is in, it tells by itself. */
  readonly connect: (name: string, address: string) => NodeConnection;
  /** The node of this process, which is called directly. */
  readonly local?: { readonly name: string; readonly service: ShardService } | undefined;
  /** What was known last, until the coordinator tells. */
  readonly remembered?: NodeDirectory | undefined;
}

interface PooledNode extends ClusterNode {
  /** Undefined: it is in this process. */
  readonly patient: PatientNode | undefined;
}

/** The storage nodes that the coordinator knows, one connection each, which is made anew when the address changes. */
export class RemoteNodePool implements NodePool, ClusterNodes, Disposable {
  readonly #options: RemoteNodePoolOptions;
  readonly #subscription: Disposable;
  readonly #listeners = new Set<(directory: NodeDirectory) => void>();
  #directory: NodeDirectory | undefined;
  #nodes: ReadonlyMap<string, PooledNode> = new Map();

  constructor(service: Pick<NodeService, "watchNodes">, options: RemoteNodePoolOptions) {
    this.#options = options;
    if (options.remembered !== undefined) this.#follow(options.remembered);
    this.#subscription = service.watchNodes((directory) => this.#follow(directory));
  }

  node(name: string): ShardService | undefined {
    return this.#nodes.get(name)?.service;
  }

  get nodes(): readonly ClusterNode[] {
    return [...this.#nodes.values()];
  }

  isLost(name: string): boolean {
    return this.#nodes.get(name)?.patient?.isLost ?? false;
  }

  /** The names of those that are lost: nothing new should be placed there. */
  get lostNodes(): readonly string[] {
    return [...this.#nodes.keys()].filter((name) => this.isLost(name));
  }

  /** Undefined until the coordinator has told one, unless one was remembered. */
  get directory(): NodeDirectory | undefined {
    return this.#directory;
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
    for (const { patient } of this.#nodes.values()) patient?.[Symbol.dispose]();
    this.#nodes = new Map();
  }

  #follow(directory: NodeDirectory): void {
    const before = this.#nodes;
    this.#directory = directory;
    this.#nodes = new Map(
      directory.nodes.map((record) => [record.name, this.#pooled(record, before.get(record.name))]),
    );
    for (const [name, { patient }] of before) if (!this.#nodes.has(name)) patient?.[Symbol.dispose]();
    for (const listener of this.#listeners) listener(directory);
  }

  /** A node keeps its service over changes of its address: what waits for it goes on at the new one. */
  #pooled(record: NodeRecord, before: PooledNode | undefined): PooledNode {
    const { local, connect } = this.#options;
    const { name, address } = record;
    if (name === local?.name) return { record, service: local.service, patient: undefined };
    const patient = before?.patient ?? new PatientNode(name, this.#options);
    if (address !== undefined && address !== before?.record.address) patient.connect(connect(name, address));
    return { record, service: patient.service, patient };
  }
}
