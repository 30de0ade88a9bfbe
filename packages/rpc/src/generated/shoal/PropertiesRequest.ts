// Original file: protos/shoal/schema.proto

export interface PropertiesRequest {
  className?: string;
  classId?: string;
  propertiesJson?: Buffer | Uint8Array | string;
  changeId?: string;
}

export interface PropertiesRequest__Output {
  className: string;
  classId: string;
  propertiesJson: Buffer;
  changeId: string;
}
