// Original file: protos/shoal/nodes.proto

export interface NodeRecord {
  name?: string;
  address?: string;
  shoalVersion?: string;
  gitHash?: string;
  secret?: string;
  process?: string;
  replaces?: boolean;
}

export interface NodeRecord__Output {
  name: string;
  address: string;
  shoalVersion: string;
  gitHash: string;
  secret: string;
  process: string;
  replaces: boolean;
}
