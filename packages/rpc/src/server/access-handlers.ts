import type { AccessService } from "../access-service.js";
import { accessBetween, readAccessPosition, readAccessValue } from "../wire/access-update.js";
import type { Handlers } from "../wire/service-definition.js";
import type { ACCESS } from "../wire/services.js";
import { ServedSnapshots } from "./served-snapshots.js";
import { unaryHandler } from "./unary-handler.js";

/** `AccessService` behind gRPC, until `stopped`. */
export function accessHandlers(service: AccessService, stopped: AbortSignal): Handlers<typeof ACCESS> {
  const served = new ServedSnapshots(
    { watch: (listener) => service.watchAccess(listener), between: accessBetween },
    stopped,
  );
  return {
    Current: unaryHandler(async (known, context) => served.update(known, await service.current(context))),
    Change: unaryHandler(async ({ expected, put, removed, goesOnFrom }, context) => {
      const changes = [
        ...put.map((entry) => ({ key: entry.key, value: readAccessValue(entry) })),
        ...removed.map((key) => ({ key, value: undefined })),
      ];
      await service.change(changes, readAccessPosition(expected), context, goesOnFrom);
      return served.position;
    }),
    Watch: (call) => served.send(call),
  };
}
