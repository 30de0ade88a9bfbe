import type { NodeMessage } from "@shoal/rpc";
import type { CopyStore } from "@shoal/shard";
import type { FullCopy } from "./full-copy.js";
import type { NodeMemory } from "./node-memory.js";

type Piece = Extract<NodeMessage, { readonly type: "graph" }>;
type GraphResponse = Extract<NodeMessage, { readonly type: "graphTaken" }>;

/** The graph of its primary that a copy gets before all rows. Pieces may be doubled and late. */
export class ReceivedGraph {
  readonly #send: (response: GraphResponse) => void;
  readonly #fullCopy: Pick<FullCopy, "graphCame">;
  readonly #memory: Pick<NodeMemory, "hasRoom">;
  #session = "";
  /** The last piece that was begun, and what became of it. */
  #number = -1;
  #isWanted: boolean | undefined;

  constructor(
    send: (response: GraphResponse) => void,
    fullCopy: Pick<FullCopy, "graphCame">,
    memory: Pick<NodeMemory, "hasRoom">,
  ) {
    this.#send = send;
    this.#fullCopy = fullCopy;
    this.#memory = memory;
  }

  async take(store: CopyStore, { shard, from, to, session, number, piece, isLast }: Piece): Promise<void> {
    const response = (isWanted: boolean) => {
      this.#send({ type: "graphTaken", shard, from: to, to: from, session, number, isWanted });
    };
    if (session === this.#session && number === this.#number) {
      // Sent again: the response was lost, or is not there yet.
      if (this.#isWanted !== undefined) response(this.#isWanted);
      return;
    }
    const follows = session === this.#session && number === this.#number + 1 && this.#isWanted === true;
    if (!follows && (number !== 0 || session === this.#session)) return;
    this.#session = session;
    this.#number = number;
    this.#isWanted = undefined;
    const bytes = this.#fullCopy.graphCame(store, piece);
    // It comes into memory as a whole, at once; rows come one after the other.
    const isWanted = this.#memory.hasRoom(bytes) && (await store.takeGraph(number, piece, isLast));
    if (this.#session !== session || this.#number !== number) return;
    this.#isWanted = isWanted;
    response(isWanted);
  }
}
