import type {
  handleUnaryCall,
  ServerUnaryCall,
  StatusObject,
  UntypedHandleCall,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";

type AnyUnary = handleUnaryCall<unknown, unknown>;
export type AnyCall = ServerUnaryCall<unknown, unknown>;

/** `handlers`, where a call for which `refusal` gives a status ends with it. */
export function guardedHandlers<Handlers extends UntypedServiceImplementation>(
  handlers: Handlers,
  refusal: (method: string, call: AnyCall) => Partial<StatusObject> | undefined,
): Handlers {
  const guarded = Object.entries(handlers).map(([method, handle]): [string, UntypedHandleCall] => {
    const guard: AnyUnary = (call, callback) => {
      const status = refusal(method, call);
      if (status === undefined) return (handle as AnyUnary)(call, callback);
      // Streams have no callback; what they emit as an error becomes their status.
      if (callback === undefined) (call as AnyCall).emit("error", status);
      else callback(status);
    };
    return [method, guard];
  });
  return Object.fromEntries(guarded) as Handlers;
}
