// Original file: protos/shoal/nodes.proto

export interface WatchNodesRequest {
  caller?: string;
}

export interface WatchNodesRequest__Output {
  caller: string;
}
