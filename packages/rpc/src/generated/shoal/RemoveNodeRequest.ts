// Original file: protos/shoal/nodes.proto

export interface RemoveNodeRequest {
  name?: string;
}

export interface RemoveNodeRequest__Output {
  name: string;
}
