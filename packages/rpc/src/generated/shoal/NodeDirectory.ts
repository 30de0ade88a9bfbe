// Original file: protos/shoal/nodes.proto

import type { Long } from "@grpc/proto-loader";
import type {
  NodeRecord as _shoal_NodeRecord,
  NodeRecord__Output as _shoal_NodeRecord__Output,
} from "../shoal/NodeRecord.js";

export interface NodeDirectory {
  version?: number | string | Long;
  expectedStorageNodes?: number;
  nodes?: _shoal_NodeRecord[];
}

export interface NodeDirectory__Output {
  version: number;
  expectedStorageNodes: number;
  nodes: _shoal_NodeRecord__Output[];
}
