// Original file: protos/shoal/access.proto

export interface AccessEntry {
  key?: string;
  valueJson?: Buffer | Uint8Array | string;
}

export interface AccessEntry__Output {
  key: string;
  valueJson: Buffer;
}
