// Original file: protos/shoal/extensions.proto

import type { Long } from "@grpc/proto-loader";

export interface ExtensionsPosition {
  historyId?: string;
  version?: number | string | Long;
}

export interface ExtensionsPosition__Output {
  historyId: string;
  version: number;
}
