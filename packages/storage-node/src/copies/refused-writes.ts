import { ShoalError } from "@shoal/model";
import { copiesOf, nodeOf, type ShardConfiguration } from "@shoal/replication";

/** Why a shard takes no writes. `place` names it. */
export function tooFewInSync(place: string, configuration: ShardConfiguration): ShoalError {
  const { inSync, minInSync } = configuration;
  const missing = copiesOf(configuration).filter((copy) => !inSync.includes(copy));
  return comeAgain(
    `${place} takes no writes: ${inSync.length} of the ${minInSync} copies that are needed are in sync ` +
      `(on ${inSync.map(nodeOf).join(", ")}; not on ${missing.map(nodeOf).join(", ") || "any other node"})`,
  );
}

/** The errors of clients that wait behind a commit which is not acknowledged, and of those of that commit. */
export function givenUp(
  place: string,
  configuration: ShardConfiguration,
): { readonly waiting: ShoalError; readonly underWay: ShoalError } {
  const nodes = copiesOf(configuration).map(nodeOf).join(", ");
  const waiting =
    configuration.inSync.length < configuration.minInSync
      ? tooFewInSync(place, configuration)
      : comeAgain(
          `${place}: a write is not acknowledged by all copies in sync (the copies are on ${nodes}), others wait for it`,
        );
  const unknown = `${waiting.message}; nobody knows whether this write will be carried out`;
  return { waiting, underWay: comeAgain(unknown) };
}

export function unknownOutcome(place: string, why: string): ShoalError {
  return comeAgain(`${place}: nobody knows whether the write was carried out, ${why}`);
}

function comeAgain(message: string): ShoalError {
  return new ShoalError("unavailable", message, { retryAfterSeconds: 1 });
}
