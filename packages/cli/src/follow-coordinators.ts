import { messageInFull } from "@shoal/rpc";
import { type ConnectCoordinatorOptions, type CoordinatorConnection, connectCoordinator } from "@shoal/rpc/grpc";
import type { Logger, ResourceScope } from "@shoal/service-runtime";

/** So long may they be away, as when one is restarted, before it is logged. */
const QUIET_MS = 3_000;

interface FollowOptions extends Omit<ConnectCoordinatorOptions, "onReachable"> {
  readonly logger: Logger;
}

/** Connects to the coordinators, and logs when none can be reached, at the start too, and when one is back. */
export function followCoordinators(
  addresses: readonly string[],
  { logger, ...options }: FollowOptions,
  scope: ResourceScope,
  quietMs: number = QUIET_MS,
): CoordinatorConnection {
  let isTold = false;
  const tell = async (): Promise<void> => {
    const reason = await connection.schema.current({ deadline: options.now() + QUIET_MS }).then(
      () => undefined,
      (thrown: unknown) => messageInFull(thrown),
    );
    if (reason === undefined || connection.isReachable) return;
    isTold = true;
    logger.warn({ coordinators: addresses, error: reason }, "no coordinator can be reached");
  };
  let timer = setTimeout(() => void tell(), quietMs).unref();
  scope.defer(() => clearTimeout(timer));
  const connection = connectCoordinator(addresses, {
    ...options,
    onReachable(isReachable) {
      clearTimeout(timer);
      if (!isReachable) timer = setTimeout(() => void tell(), quietMs).unref();
      else if (isTold) logger.info({}, "a coordinator can be reached again");
      isTold &&= !isReachable;
    },
  });
  return connection;
}
