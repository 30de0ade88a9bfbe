import { ShoalError } from "@shoal/model";

/**
 * What is known about a request that got no response: `never` executed, as it was not sent or was turned away unread, or
 * `unknown`, because the connection was lost while it was under way.
 */
export type Delivery = "never" | "unknown";

const deliveries = new WeakMap<ShoalError, Delivery>();

/** Notes about an error of a client that it is no response of the node. */
export function undelivered(error: ShoalError, delivery: Delivery): ShoalError {
  deliveries.set(error, delivery);
  return error;
}

/** Undefined: the node itself answered with this error, or it has nothing to do with one. */
export function deliveryOf(thrown: unknown): Delivery | undefined {
  return deliveries.get(thrown as ShoalError);
}

/** What the network said, with addresses. It stands in the cause of an error, where no client sees it. */
export class NetworkFailure extends Error {
  override readonly name = "NetworkFailure";
}

/** An error's message for logs and operators: with what the network said. */
export function messageInFull(thrown: unknown): string {
  const { message, cause } = ShoalError.from(thrown);
  return cause instanceof NetworkFailure ? `${message}: ${cause.message}` : message;
}
