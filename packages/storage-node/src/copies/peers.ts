import type { NodeDirectory, NodeMessage, NodeService } from "@shoal/rpc";

/** A connection to another node. */
export interface Peer extends Disposable {
  /** False: it was dropped. */
  send(message: NodeMessage): boolean;
}

export interface PeersOptions {
  readonly nodeName: string;
  readonly nodes: Pick<NodeService, "watch">;
  readonly connect: (name: string, address: string) => Peer;
  /** A message was dropped, for want of a connection or of room. */
  readonly onLost?: (name: string, type: string) => void;
}

/** The other nodes that this one shares shards with: connections to each are made when there is something to say. */
export class Peers implements Disposable {
  readonly #options: PeersOptions;
  readonly #subscription: Disposable;
  #addresses: ReadonlyMap<string, string> = new Map();
  readonly #connected = new Map<string, { readonly address: string; readonly peer: Peer }>();

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#subscription = options.nodes.watch((directory) => this.#follow(directory));
  }

  /** It may be lost, as when the address of the node is not known yet. */
  send(name: string, message: NodeMessage): void {
    const address = this.#addresses.get(name);
    if (address === undefined) return;
    let connected = this.#connected.get(name);
    if (connected === undefined) {
      connected = { address, peer: this.#options.connect(name, address) };
      this.#connected.set(name, connected);
    }
    if (!connected.peer.send(message) && message.type === "copy") this.#options.onLost?.(name, message.message.type);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    for (const { peer } of this.#connected.values()) peer[Symbol.dispose]();
    this.#connected.clear();
  }

  #follow({ nodes }: NodeDirectory): void {
    const { nodeName } = this.#options;
    this.#addresses = new Map(
      nodes.flatMap(({ name, address }) => (address === undefined || name === nodeName ? [] : [[name, address]])),
    );
    for (const [name, { address, peer }] of this.#connected) {
      if (this.#addresses.get(name) === address) continue;
      peer[Symbol.dispose]();
      this.#connected.delete(name);
    }
  }
}
