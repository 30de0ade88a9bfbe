import type { CopyBatch } from "../copy-messages.js";
import { Broken } from "./checks.js";

/** What each entry of the journals changed. Epoch and sequence name one entry, on whatever copy it is. */
export class EntryLedger {
  readonly #entries = new Map<string, string>();

  /** `batch` is durable on `copy`. */
  note(shard: string, copy: string, { entries }: CopyBatch): void {
    for (const [at, { document, row }] of (entries?.changes ?? []).entries()) {
      const key = `${shard} ${entries?.epoch}.${(entries?.first ?? 0) + at}`;
      const what = `${document}=${row ?? ""}`;
      const known = this.#entries.get(key);
      if (known !== undefined && known !== what) {
        throw new Broken(`${key}: ${copy} writes ${what}, elsewhere it was ${known}`);
      }
      this.#entries.set(key, what);
    }
  }
}
