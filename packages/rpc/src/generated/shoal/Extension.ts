// Original file: protos/shoal/extensions.proto

export interface Extension {
  key?: string;
  valueJson?: Buffer | Uint8Array | string;
}

export interface Extension__Output {
  key: string;
  valueJson: Buffer;
}
