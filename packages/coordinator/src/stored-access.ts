import { ShoalError } from "@shoal/model";
import type { AccessChange, AccessPosition, AccessService, AccessSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { Ledger } from "./ledger.js";
import { StoredEntries } from "./stored-entries.js";
import { otherChanges } from "./stored-schema.js";

/** Prefix of the keys under which roles, assignments and users stand in the MetaStore. */
const PREFIX = "access/";
/** Number of the last change of them. Revisions do not do: several coordinators see the same change at different ones. */
const VERSION_KEY = "accessVersion";

export interface StoredAccessLimits {
  readonly entriesMax: number;
  readonly keyCharsMax: number;
  readonly valueBytesMax: number;
  readonly changesMax: number;
}

/** Far above what gateways let in: whatever they ask for, the store and every process that keeps all of it stay small. */
const LIMITS: StoredAccessLimits = {
  entriesMax: 30_000,
  keyCharsMax: 1_024,
  valueBytesMax: 256 * 1024,
  changesMax: 1_000,
};

/** Roles, who has them, and users made at run time, beside the schema. */
export class StoredAccess extends StoredEntries implements AccessService {
  readonly #limits: StoredAccessLimits;

  constructor(ledger: Ledger, limits: Partial<StoredAccessLimits> = {}) {
    super(ledger, { prefix: PREFIX, versionKey: VERSION_KEY });
    this.#limits = { ...LIMITS, ...limits };
  }

  change(
    changes: readonly AccessChange[],
    expected: AccessPosition,
    context: RequestContext,
    goesOnFrom = 0,
  ): Promise<void> {
    return this.ledger.change(context, (state) => {
      const known = this.snapshotOf(state);
      if (known.historyId !== expected.historyId || known.version !== expected.version) {
        throw new ShoalError("conflict", "roles or users were changed meanwhile");
      }
      this.#checkSizes(changes, known);
      const stored = changes.map(({ key, value }) => ({ key: PREFIX + key, value }));
      const version = { key: VERSION_KEY, value: Math.max(known.version, goesOnFrom) + 1 };
      return { changes: otherChanges(state, [...stored, version]), result: undefined };
    });
  }

  #checkSizes(changes: readonly AccessChange[], { entries }: AccessSnapshot): void {
    const { entriesMax, keyCharsMax, valueBytesMax, changesMax } = this.#limits;
    if (changes.length > changesMax) throw tooLarge(`${changes.length} changes at once, at most ${changesMax}`);
    let count = entries.size;
    for (const { key, value } of changes) {
      if (key.length > keyCharsMax) throw tooLarge(`a key of ${key.length} characters, at most ${keyCharsMax}`);
      if (value === undefined) {
        if (entries.has(key)) count--;
        continue;
      }
      if (!entries.has(key)) count++;
      const bytes = Buffer.byteLength(JSON.stringify(value));
      if (bytes > valueBytesMax) throw tooLarge(`'${key}' has ${bytes} bytes, at most ${valueBytesMax}`);
    }
    if (count > entriesMax && count > entries.size) throw tooLarge(`${count} entries, at most ${entriesMax}`);
  }
}

function tooLarge(what: string): ShoalError {
  return new ShoalError("tooLarge", `roles and users cannot be stored: ${what}`);
}
