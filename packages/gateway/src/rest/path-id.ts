import { type ObjectId, parseObjectId, ShoalError } from "@shoal/model";
import type { RequestContent } from "../http/http-request.js";

/** The object id that is the first parameter of the path. Fails with `invalid` when it is none. */
export function pathId({ params }: Pick<RequestContent, "params">): ObjectId {
  const [text = ""] = params;
  const id = parseObjectId(text);
  if (id === undefined) throw new ShoalError("invalid", `id in path must be of type uuid: ${JSON.stringify(text)}`);
  return id;
}
