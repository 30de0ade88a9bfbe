// Original file: protos/shoal/nodes.proto

export interface NodeRegistration {
  name?: string;
  address?: string;
  shoalVersion?: string;
  gitHash?: string;
  secret?: string;
  process?: string;
  replaces?: boolean;
}

export interface NodeRegistration__Output {
  name: string;
  address: string;
  shoalVersion: string;
  gitHash: string;
  secret: string;
  process: string;
  replaces: boolean;
}
