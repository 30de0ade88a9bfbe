import type { NodeMessage } from "@shoal/rpc";
import type { CopyStore } from "@shoal/shard";
import type { FullCopy } from "./full-copy.js";

type Piece = Extract<NodeMessage, { readonly type: "graph" }>;
type Answer = Extract<NodeMessage, { readonly type: "graphTaken" }>;

/** The graph of its primary that a copy gets before all rows. Pieces may be doubled and late. */
export class ReceivedGraph {
  readonly #send: (answer: Answer) => void;
  readonly #fullCopy: Pick<FullCopy, "graphCame">;
  #session = "";
  /** The last piece that was begun, and what became of it. */
  #number = -1;
  #isWanted: boolean | undefined;

  constructor(send: (answer: Answer) => void, fullCopy: Pick<FullCopy, "graphCame">) {
    this.#send = send;
    this.#fullCopy = fullCopy;
  }

  async take(store: CopyStore, { shard, from, to, session, number, piece, isLast }: Piece): Promise<void> {
    const answer = (isWanted: boolean) => {
      this.#send({ type: "graphTaken", shard, from: to, to: from, session, number, isWanted });
    };
    if (session === this.#session && number === this.#number) {
      // Sent again: the answer was lost, or is not there yet.
      if (this.#isWanted !== undefined) answer(this.#isWanted);
      return;
    }
    const follows = session === this.#session && number === this.#number + 1 && this.#isWanted === true;
    if (!follows && (number !== 0 || session === this.#session)) return;
    this.#session = session;
    this.#number = number;
    this.#isWanted = undefined;
    this.#fullCopy.graphCame(store, piece);
    const isWanted = await store.takeGraph(number, piece, isLast);
    if (this.#session !== session || this.#number !== number) return;
    this.#isWanted = isWanted;
    answer(isWanted);
  }
}
