// Original file: protos/shoal/access.proto

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  AccessPosition as _shoal_AccessPosition,
  AccessPosition__Output as _shoal_AccessPosition__Output,
} from "../shoal/AccessPosition.js";
import type {
  AccessUpdate as _shoal_AccessUpdate,
  AccessUpdate__Output as _shoal_AccessUpdate__Output,
} from "../shoal/AccessUpdate.js";
import type {
  ChangeAccessRequest as _shoal_ChangeAccessRequest,
  ChangeAccessRequest__Output as _shoal_ChangeAccessRequest__Output,
} from "../shoal/ChangeAccessRequest.js";

export interface AccessHandlers extends grpc.UntypedServiceImplementation {
  Change: grpc.handleUnaryCall<_shoal_ChangeAccessRequest__Output, _shoal_AccessPosition>;

  Current: grpc.handleUnaryCall<_shoal_AccessPosition__Output, _shoal_AccessUpdate>;

  Watch: grpc.handleServerStreamingCall<_shoal_AccessPosition__Output, _shoal_AccessUpdate>;
}

export interface AccessDefinition extends grpc.ServiceDefinition {
  Change: MethodDefinition<
    _shoal_ChangeAccessRequest,
    _shoal_AccessPosition,
    _shoal_ChangeAccessRequest__Output,
    _shoal_AccessPosition__Output
  >;
  Current: MethodDefinition<
    _shoal_AccessPosition,
    _shoal_AccessUpdate,
    _shoal_AccessPosition__Output,
    _shoal_AccessUpdate__Output
  >;
  Watch: MethodDefinition<
    _shoal_AccessPosition,
    _shoal_AccessUpdate,
    _shoal_AccessPosition__Output,
    _shoal_AccessUpdate__Output
  >;
}
