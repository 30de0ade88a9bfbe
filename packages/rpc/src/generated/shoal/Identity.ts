// Original file: protos/shoal/nodes.proto

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  IdentifyRequest as _shoal_IdentifyRequest,
  IdentifyRequest__Output as _shoal_IdentifyRequest__Output,
} from "../shoal/IdentifyRequest.js";
import type {
  NodePresence as _shoal_NodePresence,
  NodePresence__Output as _shoal_NodePresence__Output,
} from "../shoal/NodePresence.js";

export interface IdentityHandlers extends grpc.UntypedServiceImplementation {
  Identify: grpc.handleUnaryCall<_shoal_IdentifyRequest__Output, _shoal_NodePresence>;
}

export interface IdentityDefinition extends grpc.ServiceDefinition {
  Identify: MethodDefinition<
    _shoal_IdentifyRequest,
    _shoal_NodePresence,
    _shoal_IdentifyRequest__Output,
    _shoal_NodePresence__Output
  >;
}
