// Original file: protos/shoal/schema.proto

import type { Long } from "@grpc/proto-loader";

export interface SchemaPosition {
  historyId?: string;
  version?: number | string | Long;
}

export interface SchemaPosition__Output {
  historyId: string;
  version: number;
}
