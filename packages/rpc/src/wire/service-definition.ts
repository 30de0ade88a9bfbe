import type { Message } from "./protobuf.js";

/** What both sides need to know of a method beside its messages. */
export interface CallRules {
  /** Whether a call that may have been carried out may be sent again, to another coordinator. */
  readonly isRepeatable?: boolean;
  /** Whether it waits for storage nodes or for other changes: such calls are answered within ten seconds. */
  readonly isSlow?: boolean;
  /** Whether every process of the cluster may call it. Absent: gateways alone. */
  readonly isForAll?: boolean;
}

/** A method of a service as grpc-js takes it: `Asked` and `Response` are read, `AskedGiven` and `ResponseGiven` written. */
export interface MethodDefinition<Asked, AskedGiven, Response, ResponseGiven, IsStream extends boolean>
  extends CallRules {
  readonly path: string;
  readonly requestStream: false;
  readonly responseStream: IsStream;
  readonly requestSerialize: (request: AskedGiven) => Buffer;
  readonly requestDeserialize: (bytes: Buffer) => Asked;
  readonly responseSerialize: (response: ResponseGiven) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
  /** What it is made of, by name. */
  readonly request: Message<Asked, AskedGiven>;
  readonly response: Message<Response, ResponseGiven>;
}

type AtPath<Definition> = (path: string) => Definition;

/** A method that is asked once and answers once. */
export function unary<Asked, AskedGiven, Response, ResponseGiven>(
  request: Message<Asked, AskedGiven>,
  response: Message<Response, ResponseGiven>,
  rules: CallRules = {},
): AtPath<MethodDefinition<Asked, AskedGiven, Response, ResponseGiven, false>> {
  return (path) => define(path, request, response, false, rules);
}

/** A method that is asked once and answers until one of both sides ends it. */
export function watch<Asked, AskedGiven, Response, ResponseGiven>(
  request: Message<Asked, AskedGiven>,
  response: Message<Response, ResponseGiven>,
  rules: CallRules = {},
): AtPath<MethodDefinition<Asked, AskedGiven, Response, ResponseGiven, true>> {
  return (path) => define(path, request, response, true, rules);
}

/** A service by its methods, whose names stand in their paths. */
export function service<Methods extends Readonly<Record<string, AtPath<unknown>>>>(
  name: string,
  methods: Methods,
): { readonly [Name in keyof Methods]: ReturnType<Methods[Name]> } {
  const defined = Object.entries(methods).map(([method, at]) => [method, at(`/shoal.${name}/${method}`)]);
  return Object.fromEntries(defined) as { readonly [Name in keyof Methods]: ReturnType<Methods[Name]> };
}

function define<Asked, AskedGiven, Response, ResponseGiven, IsStream extends boolean>(
  path: string,
  request: Message<Asked, AskedGiven>,
  response: Message<Response, ResponseGiven>,
  responseStream: IsStream,
  rules: CallRules,
): MethodDefinition<Asked, AskedGiven, Response, ResponseGiven, IsStream> {
  return {
    path,
    requestStream: false,
    responseStream,
    requestSerialize: request.encode,
    requestDeserialize: request.decode,
    responseSerialize: response.encode,
    responseDeserialize: response.decode,
    request,
    response,
    ...rules,
  };
}
