import { type ObjectId, parseObjectId } from "@shoal/model";
import type { Work, Yielder } from "@shoal/runtime";
import { DocumentSet } from "../document-set.js";
import type { ObjectDirectory } from "../inverted-index.js";
import type { Comparison } from "./filter-context.js";
import { LikePattern } from "./like-pattern.js";

/** Making the text of an id and comparing it. */
const ID_STEPS = 150;

/** The objects whose id, as text in lower case, compares so. */
export function* selectIds(
  directory: ObjectDirectory,
  { operator, value }: Comparison,
  yielder: Yielder,
): Work<DocumentSet> {
  if (operator === "IsNull") {
    return value.kind === "boolean" && value.values[0] === false ? directory.all().copy() : new DocumentSet();
  }
  const texts = value.kind === "string" || value.kind === "text" ? value.values : [];
  const [text] = texts;
  switch (operator) {
    case "Equal":
      return withIds(directory, texts.slice(0, 1));
    case "ContainsAny":
      return withIds(directory, texts);
    case "ContainsAll":
      return texts.every((one) => parseObjectId(one.trim()) === parseObjectId(text?.trim() ?? ""))
        ? withIds(directory, texts)
        : new DocumentSet();
    case "NotEqual":
      return directory
        .all()
        .copy()
        .andNot(withIds(directory, texts.slice(0, 1)));
    case "WithinGeoRange":
      return new DocumentSet();
    default:
      return text === undefined ? new DocumentSet() : yield* walkIds(directory, testOf(operator, text.trim()), yielder);
  }
}

function withIds(directory: ObjectDirectory, texts: readonly string[]): DocumentSet {
  const set = new DocumentSet();
  for (const text of texts) {
    const id = parseObjectId(text.trim());
    const document = id === undefined ? -1 : directory.find(id);
    if (document >= 0) set.add(document);
  }
  return set;
}

function testOf(operator: Comparison["operator"], text: string): (id: ObjectId) => boolean {
  // A uuid in another form means the same, and case does not count in parts of one either.
  const bound: string = parseObjectId(text) ?? text.toLowerCase();
  if (operator === "GreaterThan") return (id) => id > bound;
  if (operator === "GreaterThanEqual") return (id) => id >= bound;
  if (operator === "LessThan") return (id) => id < bound;
  if (operator === "LessThanEqual") return (id) => id <= bound;
  const pattern = new LikePattern(bound);
  return (id) => pattern.matches(id);
}

function* walkIds(directory: ObjectDirectory, test: (id: ObjectId) => boolean, yielder: Yielder): Work<DocumentSet> {
  const set = new DocumentSet(directory.documentLimit);
  const documents = directory.all().toArray();
  for (const document of documents) {
    const id = directory.idOf(document);
    if (id !== undefined && test(id)) set.add(document);
    yielder.count(ID_STEPS);
    if (yielder.isDue) yield yielder.pause();
  }
  return set;
}
