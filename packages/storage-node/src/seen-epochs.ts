import { ShoalError } from "@shoal/model";
import type { ShardAddress } from "@shoal/rpc";

/** Of a shard that was never given to another owner. */
const FIRST_EPOCH = 1;

/** The highest epoch of each shard that came with a schema or a request: who writes under a lower one owns it no more. */
export class SeenEpochs {
  readonly #nodeName: string;
  /** By the registry's key of the shard; those of the first epoch are not kept. */
  readonly #epochs = new Map<string, number>();

  constructor(nodeName: string) {
    this.#nodeName = nodeName;
  }

  note(key: string, epoch = FIRST_EPOCH): void {
    if (epoch > this.#seen(key)) this.#epochs.set(key, epoch);
  }

  /**
   * Checks a request for a shard that the schema gives `placed`. Fails with `conflict` when a later epoch was seen, with
   * `unavailable` when the request knows a later one than the schema here: the shard does not write under that yet.
   */
  check(key: string, request: ShardAddress, placed: ShardAddress | undefined): void {
    const { className, shardName, epoch = FIRST_EPOCH } = request;
    const seen = this.#seen(key);
    const known = placed?.epoch ?? FIRST_EPOCH;
    if (epoch === seen && epoch <= known) return;
    const where = `shard ${shardName} of class '${className}' on node '${this.#nodeName}'`;
    if (epoch < seen) throw new ShoalError("conflict", `${where} has seen epoch ${seen}, epoch ${epoch} is over`);
    this.note(key, epoch);
    const message = `${where} is at epoch ${known}, the request is for epoch ${epoch}`;
    throw new ShoalError("unavailable", message, { retryAfterSeconds: 1 });
  }

  #seen(key: string): number {
    return this.#epochs.get(key) ?? FIRST_EPOCH;
  }
}
