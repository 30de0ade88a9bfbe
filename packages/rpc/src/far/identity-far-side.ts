import type { IdentityHandlers } from "../generated/shoal/Identity.js";
import type { NodePresence } from "../node-service.js";
import { unaryHandler } from "./unary-handler.js";

/** Tells coordinators who is at this address. */
export function identityHandlers(presence: NodePresence): IdentityHandlers {
  return { Identify: unaryHandler(async () => ({ ...presence })) };
}
