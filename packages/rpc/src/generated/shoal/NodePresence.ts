// Original file: protos/shoal/nodes.proto

export interface NodePresence {
  identity?: string;
  process?: string;
}

export interface NodePresence__Output {
  identity: string;
  process: string;
}
