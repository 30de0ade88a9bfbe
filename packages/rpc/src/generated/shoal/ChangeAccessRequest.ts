// Original file: protos/shoal/access.proto

import type { Long } from "@grpc/proto-loader";
import type {
  AccessEntry as _shoal_AccessEntry,
  AccessEntry__Output as _shoal_AccessEntry__Output,
} from "../shoal/AccessEntry.js";
import type {
  AccessPosition as _shoal_AccessPosition,
  AccessPosition__Output as _shoal_AccessPosition__Output,
} from "../shoal/AccessPosition.js";

export interface ChangeAccessRequest {
  expected?: _shoal_AccessPosition | null;
  put?: _shoal_AccessEntry[];
  removed?: string[];
  goesOnFrom?: number | string | Long;
}

export interface ChangeAccessRequest__Output {
  expected: _shoal_AccessPosition__Output | null;
  put: _shoal_AccessEntry__Output[];
  removed: string[];
  goesOnFrom: number;
}
