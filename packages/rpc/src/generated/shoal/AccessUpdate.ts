// Original file: protos/shoal/access.proto

import type {
  AccessEntry as _shoal_AccessEntry,
  AccessEntry__Output as _shoal_AccessEntry__Output,
} from "../shoal/AccessEntry.js";
import type {
  AccessPosition as _shoal_AccessPosition,
  AccessPosition__Output as _shoal_AccessPosition__Output,
} from "../shoal/AccessPosition.js";

export interface AccessUpdate {
  position?: _shoal_AccessPosition | null;
  whole?: boolean;
  put?: _shoal_AccessEntry[];
  removed?: string[];
}

export interface AccessUpdate__Output {
  position: _shoal_AccessPosition__Output | null;
  whole: boolean;
  put: _shoal_AccessEntry__Output[];
  removed: string[];
}
