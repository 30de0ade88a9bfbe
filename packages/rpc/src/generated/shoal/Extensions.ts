// Original file: protos/shoal/extensions.proto

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  ExtensionsPosition as _shoal_ExtensionsPosition,
  ExtensionsPosition__Output as _shoal_ExtensionsPosition__Output,
} from "../shoal/ExtensionsPosition.js";
import type {
  ExtensionsUpdate as _shoal_ExtensionsUpdate,
  ExtensionsUpdate__Output as _shoal_ExtensionsUpdate__Output,
} from "../shoal/ExtensionsUpdate.js";
import type {
  PutExtensionRequest as _shoal_PutExtensionRequest,
  PutExtensionRequest__Output as _shoal_PutExtensionRequest__Output,
} from "../shoal/PutExtensionRequest.js";

export interface ExtensionsHandlers extends grpc.UntypedServiceImplementation {
  List: grpc.handleUnaryCall<_shoal_ExtensionsPosition__Output, _shoal_ExtensionsUpdate>;

  Put: grpc.handleUnaryCall<_shoal_PutExtensionRequest__Output, _shoal_ExtensionsPosition>;

  Watch: grpc.handleServerStreamingCall<_shoal_ExtensionsPosition__Output, _shoal_ExtensionsUpdate>;
}

export interface ExtensionsDefinition extends grpc.ServiceDefinition {
  List: MethodDefinition<
    _shoal_ExtensionsPosition,
    _shoal_ExtensionsUpdate,
    _shoal_ExtensionsPosition__Output,
    _shoal_ExtensionsUpdate__Output
  >;
  Put: MethodDefinition<
    _shoal_PutExtensionRequest,
    _shoal_ExtensionsPosition,
    _shoal_PutExtensionRequest__Output,
    _shoal_ExtensionsPosition__Output
  >;
  Watch: MethodDefinition<
    _shoal_ExtensionsPosition,
    _shoal_ExtensionsUpdate,
    _shoal_ExtensionsPosition__Output,
    _shoal_ExtensionsUpdate__Output
  >;
}
