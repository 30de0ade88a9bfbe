import { type DataObject, type PutTimes, ShoalError } from "@shoal/model";
import { eventLoop } from "@shoal/runtime";
import { bytesOf, type Prepared, type PutLimits, preparePuts } from "./prepare-put.js";

type Outcomes = readonly (PutTimes | ShoalError)[];

/**
 * Puts objects that are large together, in several commits one after the other: the store takes a commit in one go, so
 * that all of them at once would stop everything else. `first` of them are prepared already. What fails a commit but the
 * first is the outcome of all that are not stored by then.
 */
export async function putInParts(
  objects: readonly DataObject[],
  first: Prepared,
  limits: PutLimits,
  put: (part: Prepared) => Promise<Outcomes>,
): Promise<Outcomes> {
  const outcomes = [...(await put(await preparePart(objects, 0, first, limits)))];
  while (outcomes.length < objects.length) {
    try {
      outcomes.push(...(await put(await preparePart(objects, outcomes.length, [], limits))));
    } catch (thrown) {
      const error = ShoalError.from(thrown);
      return [...outcomes, ...objects.slice(outcomes.length).map(() => error)];
    }
  }
  return outcomes;
}

/** Those from `start` on that make one commit, prepared in steps. */
async function preparePart(
  objects: readonly DataObject[],
  start: number,
  first: Prepared,
  limits: PutLimits,
): Promise<Prepared> {
  const part = [...first];
  while (start + part.length < objects.length && bytesOf(part) < limits.commitBytesMax) {
    await eventLoop.next();
    part.push(...preparePuts(objects, start + part.length, limits));
  }
  return part;
}
