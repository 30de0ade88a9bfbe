import { type Json, ShoalError } from "@shoal/model";
import type { ExtensionService } from "../extension-service.js";
import { extensionsBetween } from "../wire/extensions-update.js";
import { anything, nonEmpty, readJson } from "../wire/json-shape.js";
import type { Handlers } from "../wire/service-definition.js";
import type { EXTENSIONS } from "../wire/services.js";
import { ServedSnapshots } from "./served-snapshots.js";
import { unaryHandler } from "./unary-handler.js";

/** `ExtensionService` behind gRPC, until `stopped`. */
export function extensionsHandlers(service: ExtensionService, stopped: AbortSignal): Handlers<typeof EXTENSIONS> {
  const served = new ServedSnapshots(
    { watch: (listener) => service.watchExtensions(listener), between: extensionsBetween },
    stopped,
  );
  return {
    Put: unaryHandler(async ({ extension }, context) => {
      if (extension === null) throw new ShoalError("invalid", "extension must be given");
      nonEmpty(extension.key, "extension.key");
      await service.put(extension.key, readJson(extension.valueJson, "extension.value", anything) as Json, context);
      return served.position;
    }),
    List: unaryHandler(async (known, context) => served.update(known, await service.list(context))),
    Watch: (call) => served.send(call),
  };
}
