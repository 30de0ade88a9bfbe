import { ShoalError } from "@shoal/model";
import type { ShardAddress } from "@shoal/rpc";

/** Of a shard that was never given to another owner. */
const FIRST_TERM = 1;

/** The highest term of each shard that came with a schema or a request: who writes under a lower one owns it no more. */
export class SeenTerms {
  readonly #nodeName: string;
  /** By the registry's key of the shard; those of the first term are not kept. */
  readonly #terms = new Map<string, number>();

  constructor(nodeName: string) {
    this.#nodeName = nodeName;
  }

  note(key: string, term = FIRST_TERM): void {
    if (term > this.#seen(key)) this.#terms.set(key, term);
  }

  /**
   * Checks a request for a shard that the schema gives `placed`. Fails with `conflict` when a later term was seen, with
   * `unavailable` when the request knows a later one than the schema here: the shard does not write under that yet.
   */
  check(key: string, request: ShardAddress, placed: ShardAddress | undefined): void {
    const { className, shardName, term = FIRST_TERM } = request;
    const seen = this.#seen(key);
    const known = placed?.term ?? FIRST_TERM;
    if (term === seen && term <= known) return;
    const where = `shard ${shardName} of class '${className}' on node '${this.#nodeName}'`;
    if (term < seen) throw new ShoalError("conflict", `${where} has seen term ${seen}, term ${term} is over`);
    this.note(key, term);
    const message = `${where} is at term ${known}, the request is for term ${term}`;
    throw new ShoalError("unavailable", message, { retryAfterSeconds: 1 });
  }

  #seen(key: string): number {
    return this.#terms.get(key) ?? FIRST_TERM;
  }
}
