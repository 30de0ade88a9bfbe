import { findHoldersOf } from "@shoal/cluster";
import { CLIENT_PHRASES, type ObjectId, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { IngestParts } from "./ingest-parts.js";
import type { ObjectInput } from "./ingest-service.js";

/** How an operation words that its object is not where the client says. */
export interface AbsenceWording {
  /** No class has the id. */
  readonly absent: () => ShoalError;
  /** Begins the message when another class has it. */
  readonly prefix: string;
}

/**
 * Why the object cannot be changed as the class that the client names: no class has the id, or another one has it.
 * Undefined when the named class does have it, or when the client named none and any has it. The class that is named
 * wins over others that have the same id: fails when its own shard cannot say, while the silence of others counts as no. When
 * the class is not known, any shard may be the one.
 */
export async function explainAbsence(
  parts: IngestParts,
  id: ObjectId,
  input: ObjectInput,
  wording: AbsenceWording,
  context: RequestContext,
): Promise<ShoalError | undefined> {
  const { className } = input;
  const record = className === undefined ? undefined : parts.schema.classRecord(className);
  const own = { id, record };
  const { holding, failure } = await findHoldersOf(parts.router, parts.schema.snapshot, id, context, own);
  if (holding.some(({ definition }) => definition.class === className)) return undefined;
  const [first] = holding;
  if (failure !== undefined && (first === undefined || record !== undefined)) throw failure;
  if (first === undefined) return wording.absent();
  if (className === undefined || className === "") return undefined;
  const { class: holder } = first.definition;
  return new ShoalError(
    "invalid",
    `${wording.prefix}${CLIENT_PHRASES.immutable("class")}, but got '${className}' for previous class '${holder}'`,
  );
}

/** Before the vector length of a class is fixed: an object that is not there shall not fix it. */
export async function requirePresent(
  parts: IngestParts,
  id: ObjectId,
  input: ObjectInput,
  wording: AbsenceWording,
  context: RequestContext,
): Promise<void> {
  const absence = await explainAbsence(parts, id, input, wording, context);
  if (absence !== undefined) throw absence;
}

/**
 * What to tell the client whose request was refused: that its object is not there, when that can be found out, else
 * the refusal itself.
 */
export async function absenceOr(
  refusal: unknown,
  parts: IngestParts,
  id: ObjectId,
  input: ObjectInput,
  wording: AbsenceWording,
  context: RequestContext,
): Promise<unknown> {
  try {
    return (await explainAbsence(parts, id, input, wording, context)) ?? refusal;
  } catch {
    return refusal;
  }
}
