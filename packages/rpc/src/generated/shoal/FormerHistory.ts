// Original file: protos/shoal/schema.proto

import type { Long } from "@grpc/proto-loader";

export interface FormerHistory {
  historyId?: string;
  upTo?: number | string | Long;
}

export interface FormerHistory__Output {
  historyId: string;
  upTo: number;
}
