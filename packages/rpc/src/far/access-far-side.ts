import type { AccessPosition, AccessService, AccessSnapshot } from "../access-service.js";
import type { AccessHandlers } from "../generated/shoal/Access.js";
import { accessBetween, isAccessAt, readAccessPosition, readAccessValue } from "../wire/access-update.js";
import { sendLatest } from "./send-latest.js";
import { unaryHandler } from "./unary-handler.js";

/** `AccessService` behind gRPC, until `stopped`. */
export function accessHandlers(service: AccessService, stopped: AbortSignal): AccessHandlers {
  let latest: AccessSnapshot | undefined;
  const subscription = service.watchAccess((snapshot) => {
    latest = snapshot;
  });
  stopped.addEventListener("abort", () => subscription[Symbol.dispose](), { once: true });
  return {
    Current: unaryHandler(async (known, context) => {
      const snapshot = await service.current(context);
      return accessBetween(isAccessAt(snapshot, known) ? snapshot : undefined, snapshot);
    }),
    Change: unaryHandler(async ({ expected, put, removed, goesOnFrom }, context): Promise<AccessPosition> => {
      const changes = [
        ...put.map((entry) => ({ key: entry.key, value: readAccessValue(entry) })),
        ...removed.map((key) => ({ key, value: undefined })),
      ];
      await service.change(changes, readAccessPosition(expected), context, goesOnFrom);
      // The listeners of this process have been called.
      return { historyId: latest?.historyId ?? "", version: latest?.version ?? 0 };
    }),
    Watch: (call) => {
      let sent: AccessSnapshot | undefined;
      sendLatest<AccessSnapshot>(call, stopped, {
        watch: (listener) => service.watchAccess(listener),
        write: (snapshot) => {
          const before = sent ?? (isAccessAt(snapshot, call.request) ? snapshot : undefined);
          sent = snapshot;
          return call.write(accessBetween(before, snapshot));
        },
      });
    },
  };
}
