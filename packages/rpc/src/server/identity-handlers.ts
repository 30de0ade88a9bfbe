import type { NodePresence } from "../node-service.js";
import type { Handlers } from "../wire/service-definition.js";
import type { IDENTITY } from "../wire/services.js";
import { unaryHandler } from "./unary-handler.js";

/** Tells coordinators who is at this address. */
export function identityHandlers(presence: NodePresence): Handlers<typeof IDENTITY> {
  return { Identify: unaryHandler(async () => presence) };
}
