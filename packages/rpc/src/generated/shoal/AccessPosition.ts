// Original file: protos/shoal/access.proto

import type { Long } from "@grpc/proto-loader";

export interface AccessPosition {
  historyId?: string;
  version?: number | string | Long;
}

export interface AccessPosition__Output {
  historyId: string;
  version: number;
}
