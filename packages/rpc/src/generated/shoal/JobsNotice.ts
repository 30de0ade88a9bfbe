// Original file: protos/shoal/jobs.proto

import type { Long } from "@grpc/proto-loader";

export interface JobsNotice {
  openRanges?: number | string | Long;
  version?: number | string | Long;
}

export interface JobsNotice__Output {
  openRanges: number;
  version: number;
}
