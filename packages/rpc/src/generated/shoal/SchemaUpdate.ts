// Original file: protos/shoal/schema.proto

import type {
  ClassDrop as _shoal_ClassDrop,
  ClassDrop__Output as _shoal_ClassDrop__Output,
} from "../shoal/ClassDrop.js";
import type {
  FormerHistory as _shoal_FormerHistory,
  FormerHistory__Output as _shoal_FormerHistory__Output,
} from "../shoal/FormerHistory.js";
import type {
  SchemaPosition as _shoal_SchemaPosition,
  SchemaPosition__Output as _shoal_SchemaPosition__Output,
} from "../shoal/SchemaPosition.js";

export interface SchemaUpdate {
  position?: _shoal_SchemaPosition | null;
  whole?: boolean;
  removedClassIds?: string[];
  recordsJson?: (Buffer | Uint8Array | string)[];
  former?: _shoal_FormerHistory[];
  clusterId?: string;
  drops?: _shoal_ClassDrop[];
}

export interface SchemaUpdate__Output {
  position: _shoal_SchemaPosition__Output | null;
  whole: boolean;
  removedClassIds: string[];
  recordsJson: Buffer[];
  former: _shoal_FormerHistory__Output[];
  clusterId: string;
  drops: _shoal_ClassDrop__Output[];
}
