import { type ObjectId, parseObjectId, quoteText, ShoalError } from "@shoal/model";

/** The id in a body; undefined when there is none (absent or empty). Fails with `invalid` when it is no uuid. */
export function parseBodyId(text: string | undefined): ObjectId | undefined {
  if (text === undefined || text === "") return undefined;
  return parseObjectId(text) ?? refuse(text);
}

/** A fresh id from `newId`. */
export function freshId(newId: () => string): ObjectId {
  const id = parseObjectId(newId());
  if (id === undefined) throw new ShoalError("internal", "the source of new ids gave no uuid");
  return id;
}

function refuse(text: string): never {
  throw new ShoalError("invalid", `member 'id' must be a UUID, got ${quoteText(text)}`);
}
