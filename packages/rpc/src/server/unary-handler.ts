import type { handleUnaryCall, ServerUnaryCall } from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { REQUEST_ID, statusOf } from "../wire/status-codec.js";

/** A unary call served by `serve`; whatever it fails with becomes the status. */
export function unaryHandler<Request, Answer>(
  serve: (request: Request, context: RequestContext, call: ServerUnaryCall<Request, Answer>) => Promise<Answer>,
): handleUnaryCall<Request, Answer> {
  return (call, callback) => {
    const abort = new AbortController();
    call.on("cancelled", () => abort.abort(new ShoalError("deadlineExceeded", "nobody waits for it any more")));
    const requestId = call.metadata.get(REQUEST_ID)[0];
    const context: RequestContext = {
      deadline: Number(call.getDeadline()),
      signal: abort.signal,
      requestId: typeof requestId === "string" ? requestId : undefined,
    };
    // What fails before its first await fails as a promise, too.
    (async () => serve(call.request, context, call))().then(
      (answer) => callback(null, answer),
      (thrown) => callback(statusOf(thrown)),
    );
  };
}
