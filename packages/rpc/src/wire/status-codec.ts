import { Metadata, type ServiceError, type StatusObject, status } from "@grpc/grpc-js";
import { type ErrorCode, ShoalError } from "@shoal/model";
import { deliveryOf, NetworkFailure, undelivered } from "../delivery.js";

/** The gRPC status of each code, for those who look from outside; our own code travels beside it. */
const STATUS_OF_CODE: Readonly<Record<ErrorCode, status>> = {
  malformed: status.INVALID_ARGUMENT,
  invalid: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  notFound: status.NOT_FOUND,
  conflict: status.ABORTED,
  tooLarge: status.OUT_OF_RANGE,
  overloaded: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  moved: status.UNAVAILABLE,
  deadlineExceeded: status.DEADLINE_EXCEEDED,
  dataLoss: status.DATA_LOSS,
  internal: status.INTERNAL,
};

/** The key of what log lines find a request by. */
export const REQUEST_ID = "shoal-request-id";

/** The key of the cluster that a caller of the coordinator belongs to. */
export const CLUSTER_ID = "shoal-cluster-id";

/** The key of the storage node that a caller of another one says it is. */
export const NODE_NAME = "shoal-node-name";

const CODE = "shoal-code";
const RETRY_AFTER = "shoal-retry-after";
const UNTOUCHED = "shoal-untouched";

/** Headers have an end: a longer message is cut. */
const DETAILS_CHARS_MAX = 8_000;

/** An error as the end of a unary call. */
export function statusOf(thrown: unknown): Partial<StatusObject> {
  const error = ShoalError.from(thrown);
  const metadata = new Metadata();
  metadata.set(CODE, error.code);
  if (error.retryAfterSeconds !== undefined) metadata.set(RETRY_AFTER, String(error.retryAfterSeconds));
  if (deliveryOf(error) === "never") metadata.set(UNTOUCHED, "1");
  return { code: STATUS_OF_CODE[error.code], details: error.message.slice(0, DETAILS_CHARS_MAX), metadata };
}

/** What a unary call to the coordinator at `address` failed with. What gRPC says of it stands in its cause alone. */
export function errorOfStatus(failure: ServiceError, address: string): ShoalError {
  const code = failure.metadata?.get(CODE)[0];
  if (typeof code === "string" && code in STATUS_OF_CODE) {
    const retryAfter = failure.metadata.get(RETRY_AFTER)[0];
    const options = retryAfter === undefined ? {} : { retryAfterSeconds: Number(retryAfter) };
    const error = new ShoalError(code as ErrorCode, failure.details, options);
    return failure.metadata.get(UNTOUCHED).length > 0 ? undelivered(error, "never") : error;
  }
  const isInternal = failure.code === status.INTERNAL || failure.code === status.UNIMPLEMENTED;
  const cause = new NetworkFailure(`${address}: ${failure.details}`, { cause: failure });
  if (isInternal) return new ShoalError("internal", "the coordinator could not carry out the request", { cause });
  const isLate = failure.code === status.DEADLINE_EXCEEDED;
  const message = isLate ? "the coordinator did not answer in time" : "the connection to the coordinator was lost";
  return undelivered(new ShoalError("unavailable", message, { cause, retryAfterSeconds: 1 }), "unknown");
}
