import type { RequestContext } from "@shoal/runtime";
import type { NodeClaim, NodeDirectory, NodeRecord, NodeService } from "../node-service.js";
import { WatchedValue } from "../watched-value.js";
import type { Read } from "../wire/protobuf.js";
import { type NODE_DIRECTORY, NODES } from "../wire/services.js";
import type { CoordinatorCalls } from "./coordinator-calls.js";
import { FollowedStream } from "./followed-stream.js";

type WireDirectory = Read<typeof NODE_DIRECTORY>;

/** The client of `NodeService`. */
export class CoordinatorNodes implements NodeService, Disposable {
  readonly #calls: CoordinatorCalls;
  readonly #stream: FollowedStream<WireDirectory>;
  readonly #directory = new WatchedValue<NodeDirectory | undefined>(undefined);

  constructor(calls: CoordinatorCalls) {
    this.#calls = calls;
    this.#stream = new FollowedStream<WireDirectory>({
      open: () => calls.listen(NODES.Watch, {}),
      onItem: (directory) => this.#accept(directory),
    });
  }

  async register(node: NodeRecord, context: RequestContext, claim?: NodeClaim): Promise<void> {
    await this.#calls.ask(NODES.Register, { ...node, address: node.address ?? "", ...claim }, context);
  }

  async confirmDropped(nodeName: string, classIds: readonly string[], context: RequestContext): Promise<void> {
    await this.#calls.ask(NODES.ConfirmDropped, { nodeName, classIds }, context);
  }

  async remove(name: string, context: RequestContext): Promise<NodeRecord> {
    return readNode(await this.#calls.ask(NODES.Remove, { name }, context));
  }

  watchNodes(listener: (directory: NodeDirectory) => void): Disposable {
    return this.#directory.watch(listener);
  }

  [Symbol.dispose](): void {
    this.#stream[Symbol.dispose]();
    this.#directory.forgetListeners();
  }

  #accept({ version, expectedStorageNodes, nodes }: WireDirectory): void {
    const directory: NodeDirectory = {
      version,
      expectedStorageNodes,
      nodes: nodes.map(readNode),
    };
    // After a stream that broke the same one is told again.
    if (JSON.stringify(directory) !== JSON.stringify(this.#directory.known)) this.#directory.set(directory);
  }
}

function readNode({ name, address, shoalVersion, gitHash }: WireDirectory["nodes"][number]): NodeRecord {
  return { name, address: address === "" ? undefined : address, shoalVersion, gitHash };
}
