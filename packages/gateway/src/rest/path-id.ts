import { type ObjectId, parseObjectId, quoteText, ShoalError } from "@shoal/model";
import type { RequestContent } from "../http/http-request.js";

/** The object id that is the first parameter of the path. Fails with `invalid` when it is none. */
export function pathId({ params }: Pick<RequestContent, "params">): ObjectId {
  const [text = ""] = params;
  const id = parseObjectId(text);
  if (id === undefined) throw new ShoalError("invalid", `the id in the path must be a UUID, got ${quoteText(text)}`);
  return id;
}
