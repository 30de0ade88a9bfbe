import { type Json, ShoalError } from "@shoal/model";
import type { ExtensionService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { Ledger } from "./ledger.js";
import type { MetaState } from "./meta-store.js";
import { StoredEntries } from "./stored-entries.js";
import { otherChanges } from "./stored-schema.js";

/** Prefix of the keys under which extensions stand in the MetaStore. */
const PREFIX = "extension/";
const KEY_CHARS_MAX = 1_000;

export interface ExtensionLimits {
  readonly extensionsMax: number;
  /** Bytes of the JSON of one, and of all. */
  readonly extensionBytesMax: number;
  readonly allBytesMax: number;
}

/** Every process keeps all of them in memory, and etcd takes no large value. */
const LIMITS: ExtensionLimits = {
  extensionsMax: 10_000,
  extensionBytesMax: 256 * 1024,
  allBytesMax: 64 * 1024 * 1024,
};

/** What modules keep for all processes, beside the schema. A snapshot's version is a revision of the store. */
export class StoredExtensions extends StoredEntries implements ExtensionService {
  readonly #limits: ExtensionLimits;

  constructor(ledger: Ledger, limits: Partial<ExtensionLimits> = {}) {
    super(ledger, { prefix: PREFIX });
    this.#limits = { ...LIMITS, ...limits };
  }

  put(key: string, value: Json, context: RequestContext): Promise<void> {
    return this.ledger.change(context, (state) => {
      this.#checkFits(key, value, state);
      return { changes: otherChanges(state, [{ key: PREFIX + key, value }]), result: undefined };
    });
  }

  /** Fails with `tooLarge`. */
  #checkFits(key: string, value: Json, state: MetaState): void {
    const { extensionsMax, extensionBytesMax, allBytesMax } = this.#limits;
    const refused = (reason: string): ShoalError =>
      new ShoalError("tooLarge", `'${key.slice(0, 100)}' cannot be stored: ${reason}`);
    const bytes = bytesOf(value);
    if (key.length > KEY_CHARS_MAX) throw refused(`its name has more than ${KEY_CHARS_MAX} characters`);
    if (bytes > extensionBytesMax) throw refused(`it has ${bytes} bytes, at most ${extensionBytesMax} may be`);
    const { entries } = this.snapshotOf(state);
    const isNew = !entries.has(key);
    if (isNew && entries.size >= extensionsMax) {
      throw refused(`there are ${entries.size} extensions, the most there may be`);
    }
    let all = bytes;
    for (const [other, known] of entries) if (other !== key) all += bytesOf(known);
    if (all > allBytesMax) throw refused(`with it all would have ${all} bytes, at most ${allBytesMax} may be`);
  }
}

/** Values stay the same objects in every state: each is measured once. */
const measured = new WeakMap<object, number>();

function bytesOf(value: Json): number {
  const known = typeof value === "object" && value !== null ? measured.get(value) : undefined;
  if (known !== undefined) return known;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (typeof value === "object" && value !== null) measured.set(value, bytes);
  return bytes;
}
