import { primitiveDataType } from "../schema/data-type.js";
import type { PropertyAggregate } from "./aggregation.js";

/** What can be said of the values of a data type; undefined for those that have no figures. */
export function aggregatedKind(dataType: readonly string[]): PropertyAggregate["kind"] | undefined {
  switch (primitiveDataType(dataType)) {
    case "int":
    case "number":
    case "int[]":
    case "number[]":
      return "numbers";
    case "string":
    case "text":
    case "string[]":
    case "text[]":
    case "blob":
      return "texts";
    case "boolean":
    case "boolean[]":
      return "booleans";
    case "date":
    case "date[]":
      return "dates";
    case "geoCoordinates":
    case "phoneNumber":
      return undefined;
    case undefined:
      return "references";
  }
}

/** Whether objects can be put into groups by a property of this type. */
export function isGroupable(dataType: readonly string[]): boolean {
  const kind = aggregatedKind(dataType);
  return kind !== undefined && kind !== "references" && primitiveDataType(dataType) !== "blob";
}
