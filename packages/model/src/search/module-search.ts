import type { JsonObject } from "../objects/json.js";

/** A search argument that a module answers, as `nearText`. */
export interface ModuleSearch {
  readonly argument: string;
  /** In the shape that the module describes: lists as lists, without nulls. */
  readonly value: JsonObject;
}

/** A value of `_additional` that a module answers. */
export interface AdditionalRequest {
  readonly name: string;
  /** Its arguments, in the shape that the module describes, without nulls. */
  readonly given: JsonObject;
}
