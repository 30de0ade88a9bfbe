// Original file: protos/shoal/schema.proto

export interface PropertyRequest {
  className?: string;
  propertyJson?: Buffer | Uint8Array | string;
  changeId?: string;
}

export interface PropertyRequest__Output {
  className: string;
  propertyJson: Buffer;
  changeId: string;
}
