import { type Memory, MemoryKeeper } from "@shoal/cluster";
import { ShoalError } from "@shoal/model";
import type { SchemaSnapshot } from "@shoal/rpc";
import type { Logger, ResourceScope } from "@shoal/service-runtime";

/** What is remembered, or undefined; a memory that cannot be read is no reason not to start. */
export async function recall<T>(memory: Memory<T>, what: string, logger: Logger): Promise<T | undefined> {
  try {
    return await memory.load();
  } catch (thrown) {
    logger.warn({ error: ShoalError.from(thrown) }, `${what} that was known last cannot be read`);
    return undefined;
  }
}

/** As {@link recall}. JSON drops members that are undefined. */
export async function recallSchema(
  memory: Memory<SchemaSnapshot>,
  logger: Logger,
): Promise<SchemaSnapshot | undefined> {
  const schema = await recall(memory, "the schema", logger);
  return schema && { ...schema, classes: schema.classes.map((one) => ({ ...one, dimensions: one.dimensions })) };
}

/** Stores what it is called with, one after the other; the last one is stored when the scope ends. */
export function remember<T>(memory: Memory<T>, what: string, logger: Logger, scope: ResourceScope): (value: T) => void {
  const keeper = rememberer(memory, what, logger, scope);
  return (value) => keeper.keep(value);
}

/** As {@link remember}, for those who must know what is stored. */
export function rememberer<T>(memory: Memory<T>, what: string, logger: Logger, scope: ResourceScope): MemoryKeeper<T> {
  return scope.use(
    new MemoryKeeper(memory, (error) =>
      logger.warn({ error }, `${what} could not be stored for a start while no coordinator can be reached`),
    ),
  );
}
