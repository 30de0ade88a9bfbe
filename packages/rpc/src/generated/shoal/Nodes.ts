// Original file: protos/shoal/nodes.proto

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  DroppedClasses as _shoal_DroppedClasses,
  DroppedClasses__Output as _shoal_DroppedClasses__Output,
} from "../shoal/DroppedClasses.js";
import type {
  NodeDirectory as _shoal_NodeDirectory,
  NodeDirectory__Output as _shoal_NodeDirectory__Output,
} from "../shoal/NodeDirectory.js";
import type {
  NodeRecord as _shoal_NodeRecord,
  NodeRecord__Output as _shoal_NodeRecord__Output,
} from "../shoal/NodeRecord.js";
import type {
  RemoveNodeRequest as _shoal_RemoveNodeRequest,
  RemoveNodeRequest__Output as _shoal_RemoveNodeRequest__Output,
} from "../shoal/RemoveNodeRequest.js";
import type {
  WatchNodesRequest as _shoal_WatchNodesRequest,
  WatchNodesRequest__Output as _shoal_WatchNodesRequest__Output,
} from "../shoal/WatchNodesRequest.js";

export interface NodesHandlers extends grpc.UntypedServiceImplementation {
  ConfirmDropped: grpc.handleUnaryCall<_shoal_DroppedClasses__Output, _shoal_DroppedClasses>;

  Register: grpc.handleUnaryCall<_shoal_NodeRecord__Output, _shoal_NodeRecord>;

  Remove: grpc.handleUnaryCall<_shoal_RemoveNodeRequest__Output, _shoal_NodeRecord>;

  Watch: grpc.handleServerStreamingCall<_shoal_WatchNodesRequest__Output, _shoal_NodeDirectory>;
}

export interface NodesDefinition extends grpc.ServiceDefinition {
  ConfirmDropped: MethodDefinition<
    _shoal_DroppedClasses,
    _shoal_DroppedClasses,
    _shoal_DroppedClasses__Output,
    _shoal_DroppedClasses__Output
  >;
  Register: MethodDefinition<
    _shoal_NodeRecord,
    _shoal_NodeRecord,
    _shoal_NodeRecord__Output,
    _shoal_NodeRecord__Output
  >;
  Remove: MethodDefinition<
    _shoal_RemoveNodeRequest,
    _shoal_NodeRecord,
    _shoal_RemoveNodeRequest__Output,
    _shoal_NodeRecord__Output
  >;
  Watch: MethodDefinition<
    _shoal_WatchNodesRequest,
    _shoal_NodeDirectory,
    _shoal_WatchNodesRequest__Output,
    _shoal_NodeDirectory__Output
  >;
}
