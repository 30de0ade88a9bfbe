import { type RequestWarnings, ShoalError } from "@shoal/model";
import { JsonScanner } from "../../json/json-scanner.js";
import { JSON_DEPTH_MAX } from "../../json/parse-json.js";
import { noJson } from "../../json/scan-problem.js";
import { wrongBody } from "../../json/wrong-member.js";
import { decodeRequest } from "../reading/request-body.js";

/** Items are found in one go; queries have no more than this. */
const BATCH_BYTES_MAX = 8 * 1024 * 1024;

const OPEN_BRACKET = 0x5b;

/**
 * The items of a body that is a JSON list, as slices of it; none when it is null. Fails with `malformed` on what is no
 * JSON and no list, with `invalid` on nothing, with `tooLarge` on more than `itemsMax`, naming the setting.
 */
export function batchItems(bytes: Buffer, itemsMax: number): readonly Buffer[] {
  if (bytes.length > BATCH_BYTES_MAX) {
    const message = `the request body has ${bytes.length} bytes, at most ${BATCH_BYTES_MAX} are allowed for a batch of queries`;
    throw new ShoalError("tooLarge", message);
  }
  const scanner = new JsonScanner(bytes, JSON_DEPTH_MAX);
  const items: Buffer[] = [];
  let start = -1;
  let isList = false;
  let isObject = false;
  for (;;) {
    const token = scanner.next(Number.POSITIVE_INFINITY);
    if (token === "problem") throw noJson(bytes, scanner.problem, JSON_DEPTH_MAX);
    if (token === "end") break;
    if (token === "open" && scanner.depth === 1) {
      isList = bytes[scanner.start] === OPEN_BRACKET;
      isObject = !isList;
    }
    if (token === "open" && scanner.depth === 2) start = scanner.start;
    if (!isList || token === "open" || scanner.depth !== 1) continue;
    items.push(bytes.subarray(token === "close" ? start : scanner.start, scanner.at));
    if (items.length > itemsMax) {
      throw new ShoalError(
        "tooLarge",
        `the request body has more than ${itemsMax} queries (GRAPHQL_BATCH_REQUESTS_MAX): send several batches`,
      );
    }
  }
  if (isObject) throw notQueries({});
  if (!isList) refuseScalar(bytes.subarray(0, scanner.at));
  return items;
}

/** Fails with `malformed`, or `tooLarge`, on an item that is no request, as {@link batchItems} on a body that is no list. */
export function checkBatch(bytes: Buffer, itemsMax: number, warnings?: RequestWarnings): void {
  for (const item of batchItems(bytes, itemsMax)) decodeRequest(item, warnings);
}

function refuseScalar(value: Buffer): void {
  const parsed: unknown = JSON.parse(value.toString("utf8"));
  if (parsed !== null) throw notQueries(parsed);
}

/** Of an object nothing but its kind matters: to parse one takes 100 ms, when it has many members. */
function notQueries(value: unknown): ShoalError {
  return wrongBody(value, "a list of queries");
}
