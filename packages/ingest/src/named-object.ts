import { findHoldersOf } from "@shoal/cluster";
import { CLIENT_PHRASES, type ObjectId, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { IngestParts } from "./ingest-parts.js";
import type { ObjectInput } from "./ingest-service.js";

/** The object that a change names by id and class, and how its operation words that it is not there. */
export class NamedObject {
  constructor(
    private readonly parts: IngestParts,
    private readonly id: ObjectId,
    private readonly input: ObjectInput,
    /** Begins the message when another class has the id. */
    private readonly prefix: string,
    /** No class has the id. */
    private readonly absent: () => ShoalError,
    private readonly context: RequestContext,
  ) {}

  /**
   * Why the object cannot be changed as the class that the client names: no class has the id, or another one has it.
   * Undefined when the named class does have it, or when the client named none and any has it. The class that is named
   * wins over others that have the same id: fails when its own shard cannot say, while the silence of others counts as no. When
   * the class is not known, any shard may be the one.
   */
  async absence(): Promise<ShoalError | undefined> {
    const { router, schema } = this.parts;
    const { className } = this.input;
    const record = className === undefined ? undefined : schema.classRecord(className);
    const own = { id: this.id, record };
    const { holding, failure } = await findHoldersOf(router, schema.snapshot, this.id, this.context, own);
    if (holding.some(({ definition }) => definition.class === className)) return undefined;
    const [first] = holding;
    if (failure !== undefined && (first === undefined || record !== undefined)) throw failure;
    if (first === undefined) return this.absent();
    if (className === undefined || className === "") return undefined;
    const { class: holder } = first.definition;
    return new ShoalError(
      "invalid",
      `${this.prefix}${CLIENT_PHRASES.immutable("class")}, but got '${className}' for previous class '${holder}'`,
    );
  }

  /** Before the vector length of a class is fixed: an object that is not there shall not fix it. */
  async requirePresent(): Promise<void> {
    const absence = await this.absence();
    if (absence !== undefined) throw absence;
  }

  /**
   * What to tell the client whose request was refused: that its object is not there, when that can be found out, else
   * the refusal itself.
   */
  async absenceOr(refusal: unknown): Promise<unknown> {
    return (await this.absence().catch(() => undefined)) ?? refusal;
  }

  /** What to tell when its shard has failed: where the shard says that it is not there, where it is instead. */
  async explained(failure: unknown): Promise<unknown> {
    if (!(failure instanceof ShoalError) || failure.code !== "notFound") return failure;
    return (await this.absence()) ?? this.absent();
  }
}
