import type { RequestContext } from "@shoal/runtime";
import type { NodeDirectory__Output } from "../generated/shoal/NodeDirectory.js";
import type { NodeRecord__Output as WireNode } from "../generated/shoal/NodeRecord.js";
import type { NodeClaim, NodeDirectory, NodeRecord, NodeService } from "../node-service.js";
import { WatchedValue } from "../watched-value.js";
import { NODES } from "../wire/load-protos.js";
import type { CoordinatorCalls } from "./coordinator-calls.js";
import { FollowedStream } from "./followed-stream.js";

/** The near side of `NodeService`. */
export class CoordinatorNodes implements NodeService, Disposable {
  readonly #calls: CoordinatorCalls;
  readonly #stream: FollowedStream<NodeDirectory__Output>;
  readonly #directory = new WatchedValue<NodeDirectory | undefined>(undefined);

  constructor(calls: CoordinatorCalls) {
    this.#calls = calls;
    this.#stream = new FollowedStream<NodeDirectory__Output>({
      open: () => calls.listen(NODES.Watch, {}),
      onItem: (directory) => this.#accept(directory),
      onEnd: () => undefined,
    });
  }

  async register(node: NodeRecord, context: RequestContext, claim?: NodeClaim): Promise<void> {
    await this.#calls.ask(NODES.Register, { ...node, address: node.address ?? "", ...claim }, context, true);
  }

  async confirmDropped(nodeName: string, classIds: readonly string[], context: RequestContext): Promise<void> {
    await this.#calls.ask(NODES.ConfirmDropped, { nodeName, classIds: [...classIds] }, context, true);
  }

  async remove(name: string, context: RequestContext): Promise<NodeRecord> {
    return readNode(await this.#calls.ask(NODES.Remove, { name }, context, false));
  }

  watchNodes(listener: (directory: NodeDirectory) => void): Disposable {
    return this.#directory.watch(listener);
  }

  [Symbol.dispose](): void {
    this.#stream[Symbol.dispose]();
    this.#directory.forgetListeners();
  }

  #accept({ version, expectedStorageNodes, nodes }: NodeDirectory__Output): void {
    const directory: NodeDirectory = {
      version,
      expectedStorageNodes,
      nodes: nodes.map(readNode),
    };
    // After a stream that broke the same one is told again.
    if (JSON.stringify(directory) !== JSON.stringify(this.#directory.known)) this.#directory.set(directory);
  }
}

function readNode({ name, address, shoalVersion, gitHash }: WireNode): NodeRecord {
  return { name, address: address === "" ? undefined : address, shoalVersion, gitHash };
}
