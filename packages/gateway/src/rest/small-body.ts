import { ShoalError } from "@shoal/model";
import type { RequestContent } from "../http/http-request.js";
import { parseJson } from "../json/parse-json.js";

/** The JSON of a body that is about one thing, `what`, which is stored. Fails with `tooLarge`; else as `parseJson`. */
export function parseSmallJson(
  { body }: RequestContent,
  bytesMax: number,
  what: string,
  kept?: Parameters<typeof parseJson>[1],
): unknown {
  if (body.length <= bytesMax) return parseJson(body, kept);
  const message = `the request body has ${body.length} bytes, at most ${bytesMax} are allowed for ${what}`;
  throw new ShoalError("tooLarge", message);
}
