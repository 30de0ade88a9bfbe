import type { ClassDefinition, Json, JsonObject, RowFields, StoredObject } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { LocatedText } from "./search-argument.js";
import type { InputFields, OutputField } from "./shapes.js";

/** A row for which values are wanted. What `reads` names is there. */
export interface AdditionalRow {
  readonly definition: ClassDefinition;
  readonly object: StoredObject;
}

/** How the rows were found. */
export interface AdditionalSearch {
  /** What was searched for; undefined for a list. */
  readonly vector: Float32Array | undefined;
  /** The module's argument that was given, if it was one. */
  readonly argument:
    | {
        readonly name: string;
        /** As the client sent it, before anything was corrected. */
        readonly value: JsonObject;
        readonly texts: readonly LocatedText[];
        /** As it was searched for: with its texts corrected where that was asked for. */
        readonly searched: JsonObject;
      }
    | undefined;
}

/** Where a property can be asked for; absent: not there. */
export interface AdditionalOffer {
  /** GraphQL `Get` without and with a search. */
  readonly list: boolean;
  readonly search: boolean;
  /** REST, by `include`: one object, and the list of objects. */
  readonly restObject?: boolean;
  readonly restList?: boolean;
}

/** A field of `_additional`, and a word of `include`. */
export interface AdditionalProperty {
  readonly name: string;
  readonly output: OutputField;
  readonly arguments?: InputFields;
  readonly offeredIn: AdditionalOffer;
  /** The words of `include` that mean it; the member of the response is `name`. */
  readonly includeNames?: readonly string[];
  readonly reads: RowFields;
  /**
   * One value a row, in order; null where there is none. All rows are of one page, in a list over REST of several classes.
   * `given` has the shape of `arguments`, without nulls. Fails with `invalid`; the caller says where.
   */
  values(
    rows: readonly AdditionalRow[],
    given: JsonObject,
    search: AdditionalSearch,
    context: RequestContext,
  ): Promise<readonly Json[]>;
}
