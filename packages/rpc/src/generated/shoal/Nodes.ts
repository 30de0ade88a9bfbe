// Original file: protos/shoal/nodes.proto

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
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
  Register: grpc.handleUnaryCall<_shoal_NodeRecord__Output, _shoal_NodeRecord>;

  Remove: grpc.handleUnaryCall<_shoal_RemoveNodeRequest__Output, _shoal_NodeRecord>;

  Watch: grpc.handleServerStreamingCall<_shoal_WatchNodesRequest__Output, _shoal_NodeDirectory>;
}

export interface NodesDefinition extends grpc.ServiceDefinition {
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
