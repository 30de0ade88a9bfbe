// Original file: protos/shoal/schema.proto

import type { Long } from "@grpc/proto-loader";

export interface UpdateClassRequest {
  definitionJson?: Buffer | Uint8Array | string;
  expectedVersion?: number | string | Long;
}

export interface UpdateClassRequest__Output {
  definitionJson: Buffer;
  expectedVersion: number;
}
