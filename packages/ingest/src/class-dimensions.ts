import { checkDimensions, ShoalError, unknownClass } from "@shoal/model";
import type { ClassRecord, SchemaService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";

/**
 * The vector length of classes. A class that has none yet gets it from the first accepted vector, by compare-and-set at
 * the coordinator and before anything is written; whoever comes second is held to it.
 */
export class ClassDimensions {
  /** Requests under way and their results, until the schema itself says the length. */
  readonly #asked = new WeakMap<ClassRecord, Promise<number>>();

  constructor(private readonly service: Pick<SchemaService, "fixDimensions">) {}

  /** Fails with `invalid` unless `length` now becomes, or is meanwhile, the vector length of the class; else as `fix`. */
  async hold(record: ClassRecord, length: number, context: RequestContext): Promise<void> {
    checkDimensions(record.definition.class, length, await this.fix(record, length, context));
  }

  /**
   * The vector length of the class, which is `length` when it had none. Fails as `SchemaService.fixDimensions`, and with
   * `invalid` when the class has been deleted since it was looked up.
   */
  async fix(record: ClassRecord, length: number, context: RequestContext): Promise<number> {
    if (record.dimensions !== undefined) return record.dimensions;
    const asked = this.#asked.get(record);
    if (asked !== undefined) {
      const result = await asked.catch(() => undefined);
      // The one who asked may have run out of time or gone away, which is no result for anybody else.
      if (result !== undefined) return result;
    }
    const asking = this.service.fixDimensions(record.definition.class, record.classId, length, context);
    this.#asked.set(record, asking);
    try {
      return await asking;
    } catch (thrown) {
      if (this.#asked.get(record) === asking) this.#asked.delete(record);
      if (!(thrown instanceof ShoalError) || thrown.code !== "notFound") throw thrown;
      throw unknownClass(record.definition.class, []);
    }
  }
}
