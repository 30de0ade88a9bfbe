import { type Json, ShoalError } from "@shoal/model";
import type { ExtensionService, ExtensionsSnapshot } from "../extension-service.js";
import type { ExtensionsHandlers } from "../generated/shoal/Extensions.js";
import type { ExtensionsPosition, ExtensionsPosition__Output } from "../generated/shoal/ExtensionsPosition.js";
import { extensionsBetween } from "../wire/extensions-update.js";
import { anything, nonEmpty, readJson } from "../wire/json-shape.js";
import { sendLatest } from "./send-latest.js";
import { unaryHandler } from "./unary-handler.js";

/** `ExtensionService` behind gRPC, until `stopped`. */
export function extensionsHandlers(service: ExtensionService, stopped: AbortSignal): ExtensionsHandlers {
  let latest: ExtensionsSnapshot | undefined;
  const subscription = service.watchExtensions((snapshot) => {
    latest = snapshot;
  });
  stopped.addEventListener("abort", () => subscription[Symbol.dispose](), { once: true });
  return {
    Put: unaryHandler(async ({ extension }, context): Promise<ExtensionsPosition> => {
      if (extension === null) throw new ShoalError("invalid", "extension must be given");
      nonEmpty(extension.key, "extension.key");
      await service.put(extension.key, readJson(extension.valueJson, "extension.value", anything) as Json, context);
      // The listeners of this process have been called.
      return { historyId: latest?.historyId ?? "", version: latest?.version ?? 0 };
    }),
    List: unaryHandler(async (known, context) => {
      const snapshot = await service.list(context);
      return extensionsBetween(isAt(known, snapshot) ? snapshot : undefined, snapshot);
    }),
    Watch: (call) => {
      let sent: ExtensionsSnapshot | undefined;
      sendLatest<ExtensionsSnapshot>(call, stopped, {
        watch: (listener) => service.watchExtensions(listener),
        write: (snapshot) => {
          const before = sent ?? (isAt(call.request, snapshot) ? snapshot : undefined);
          sent = snapshot;
          return call.write(extensionsBetween(before, snapshot));
        },
      });
    },
  };
}

function isAt({ historyId, version }: ExtensionsPosition__Output, snapshot: ExtensionsSnapshot): boolean {
  return historyId === snapshot.historyId && version === snapshot.version;
}
