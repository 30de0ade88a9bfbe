import type {
  handleUnaryCall,
  ServerUnaryCall,
  ServerWritableStream,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { CoordinatorService } from "../coordinator-services.js";
import type { Position, SnapshotService } from "../snapshot-service.js";
import { certificateNames } from "../tls/peer-names.js";
import { readPosition } from "../wire/entries-update.js";
import { REQUEST_ID, statusOf } from "../wire/status-codec.js";
import { nodeFault } from "./callers.js";
import { RecentUpdates } from "./recent-updates.js";
import { sendSnapshots } from "./send-snapshots.js";

type Methods = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;
type AnyUnary = ServerUnaryCall<unknown, unknown>;

export interface HandlerOptions {
  /** Whether callers prove by their certificates who they are. */
  readonly isSecure: boolean;
  /** Ends the streams of watchers. */
  readonly stopped: AbortSignal;
}

/** A service of the coordinator behind gRPC. */
export function coordinatorHandlers<Service extends object>(
  { methods, watched }: CoordinatorService<Service>,
  service: Service,
  { isSecure, stopped }: HandlerOptions,
): UntypedServiceImplementation {
  const snapshots = service as unknown as SnapshotService<Position>;
  let latest: Position | undefined;
  const recent = new RecentUpdates(watched);
  const subscription = snapshots.watch((snapshot) => {
    latest = snapshot;
    recent.add(snapshot);
  });
  stopped.addEventListener("abort", () => subscription[Symbol.dispose](), { once: true });
  const handlers = methods.map(({ name, call: callName, nodeOf, args, response }) => {
    const handler = unaryHandler(async (request, context, call) => {
      const fault = isSecure && nodeOf !== undefined && nodeFault(nodeOf(request), certificateNames(call));
      if (fault) throw fault;
      const result = await (service as Methods)[name]?.(...args(request, context));
      // It is answered after the listeners of this process have been called: the latest holds the change.
      return response(result, readPosition(latest), request);
    });
    return [callName, handler] as const;
  });
  const current = unaryHandler<Position, object>(async (known, context) => {
    return recent.for(known, await snapshots.current(context));
  });
  return {
    ...Object.fromEntries(handlers),
    ...(watched.current !== undefined && { [watched.current]: current }),
    Watch: (call: ServerWritableStream<Position, object>) => sendSnapshots(call, snapshots, watched, recent, stopped),
  };
}

/** A unary call served by `serve`; whatever it fails with becomes the status. */
export function unaryHandler<Request, Response>(
  serve: (request: Request, context: RequestContext, call: AnyUnary) => Promise<Response>,
): handleUnaryCall<Request, Response> {
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
    (async () => serve(call.request, context, call as AnyUnary))().then(
      (response) => callback(null, response),
      (thrown) => callback(statusOf(thrown)),
    );
  };
}
