import { type Memory, MemoryKeeper, type SchemaReplica } from "@shoal/cluster";
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

/** Stores what `watch` tells, one after the other; the last one is stored when the scope ends. */
export function remember<T>(
  memory: Memory<T>,
  what: string,
  logger: Logger,
  scope: ResourceScope,
  watch: (keep: (value: T) => void) => Disposable,
): MemoryKeeper<T> {
  const keeper = scope.use(
    new MemoryKeeper(memory, (error) =>
      logger.warn({ error }, `${what} could not be stored for a start while no coordinator can be reached`),
    ),
  );
  scope.use(watch((value) => keeper.keep(value)));
  return keeper;
}

/** As {@link remember}: what a coordinator has sent already, too, as it may have answered before anybody listened here. */
export function rememberSchema(
  memory: Memory<SchemaSnapshot>,
  view: SchemaReplica,
  logger: Logger,
  scope: ResourceScope,
): MemoryKeeper<SchemaSnapshot> {
  return remember(memory, "the schema", logger, scope, (keep) => {
    if (view.isKnown) keep(view.snapshot);
    return view.onChange(keep);
  });
}
