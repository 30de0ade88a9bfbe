import type { JsonObject, RightsHolder } from "@shoal/model";

export const FILTER_NAMES = ["sourceWhere", "trainingSetWhere", "targetWhere"] as const;

export type FilterName = (typeof FILTER_NAMES)[number];

/** A classification as it was asked for, checked and completed. Plain JSON: it is stored with its job. */
export interface ClassificationRequest {
  /** `knn`, `zeroshot`, or the type of a module's classifier, whether there is one or not. */
  readonly type: string;
  readonly class: string;
  readonly classifyProperties: readonly string[];
  readonly basedOnProperties: readonly string[];
  /** Absent where the type has none and none were sent. */
  readonly settings?: JsonObject;
  /** By the clock of the process that took it, milliseconds since 1970: what was labelled up to then teaches. */
  readonly takenMs?: number;
  /** Whether that process has a classifier of this type: one that has none leaves the job to others then. */
  readonly isKnownType?: boolean;
  /** Of the schema that it was checked with. */
  readonly schemaVersion?: number;
  /** Who has started it, where roles are on; its run looks what he may do. */
  readonly startedBy?: RightsHolder;
  /** As clients write them, and as they are shown. */
  readonly filters?: { readonly [Name in FilterName]?: JsonObject };
}

export const KNN = "knn";
export const ZEROSHOT = "zeroshot";

/** What every message about a request begins with. */
export const REFUSED = "invalid classification: ";
