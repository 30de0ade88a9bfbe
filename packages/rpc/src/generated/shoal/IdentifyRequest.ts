// Original file: protos/shoal/nodes.proto

export interface IdentifyRequest {
  name?: string;
}

export interface IdentifyRequest__Output {
  name: string;
}
