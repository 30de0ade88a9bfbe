import type { CopyDecision, CopyProposal, CopyService, ShardKey } from "@shoal/rpc";

export interface ProposalsOptions {
  readonly nodeName: string;
  readonly service: Pick<CopyService, "propose">;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

interface WaitingProposal {
  readonly proposal: CopyProposal;
  readonly decided: (decision: CopyDecision | undefined) => void;
}

/** After so long nobody waits for the outcome of a proposal. */
const PROPOSAL_MS = 1_000;
/** In one call: what the coordinators surely decide in that time. When a node dies there are thousands. */
const PROPOSALS_MAX = 300;

/** What the copies of a node propose. Several that come together share a call; those that come during one share the next. */
export class Proposals {
  readonly #options: ProposalsOptions;
  readonly #waiting = new Map<ShardKey, WaitingProposal>();
  #isSending = false;

  constructor(options: ProposalsOptions) {
    this.#options = options;
  }

  /** Undefined: nobody knows what became of it. A later one of a shard replaces what waits. */
  propose(proposal: CopyProposal): Promise<CopyDecision | undefined> {
    const { shard } = proposal;
    this.#waiting.get(shard)?.decided(undefined);
    const decided = new Promise<CopyDecision | undefined>((resolve) => {
      this.#waiting.set(shard, { proposal, decided: resolve });
    });
    void this.#send();
    return decided;
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    // Those of the same event come with it.
    await undefined;
    while (this.#waiting.size > 0) {
      const asked = [...this.#waiting.values()].slice(0, PROPOSALS_MAX);
      for (const { proposal } of asked) this.#waiting.delete(proposal.shard);
      const { nodeName, service, clock } = this.#options;
      const proposals = asked.map(({ proposal }) => proposal);
      const decisions = await service
        .propose(nodeName, proposals, { deadline: clock() + PROPOSAL_MS })
        .catch(() => undefined);
      for (const [at, { decided }] of asked.entries()) decided(decisions?.[at]);
    }
    this.#isSending = false;
  }
}
