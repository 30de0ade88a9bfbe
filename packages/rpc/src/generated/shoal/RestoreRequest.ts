// Original file: protos/shoal/schema.proto

export interface RestoreRequest {
  snapshotJson?: Buffer | Uint8Array | string;
}

export interface RestoreRequest__Output {
  snapshotJson: Buffer;
}
