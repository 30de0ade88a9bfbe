import { findFirstHolder, findHolders } from "@shoal/cluster";
import { type ObjectId, ShoalError } from "@shoal/model";
import type { ClassRecord, RequestContext } from "@shoal/rpc";
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
 * wins over others that have the same id.
 */
export async function explainAbsence(
  parts: IngestParts,
  id: ObjectId,
  input: ObjectInput,
  wording: AbsenceWording,
  context: RequestContext,
): Promise<ShoalError | undefined> {
  const named = input.className === undefined ? undefined : parts.schema.classRecord(input.className);
  if (named !== undefined && (await isIn(parts, named, id, context))) return undefined;
  const first = await findFirstHolder(parts.router, parts.schema.snapshot.classes, id, context);
  if (first === undefined) return wording.absent();
  const { class: holder } = first.definition;
  if (input.className === undefined || input.className === "" || input.className === holder) return undefined;
  return new ShoalError(
    "invalid",
    `${wording.prefix}class is immutable, but got '${input.className}' for previous class '${holder}'`,
  );
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

async function isIn(parts: IngestParts, record: ClassRecord, id: ObjectId, context: RequestContext): Promise<boolean> {
  const { holding, failure } = await findHolders(parts.router, [record], id, context);
  if (failure !== undefined) throw failure;
  return holding.length > 0;
}
