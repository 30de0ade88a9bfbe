// Original file: protos/shoal/schema.proto

export interface SettleRequest {
  changeId?: string;
}

export interface SettleRequest__Output {
  changeId: string;
}
