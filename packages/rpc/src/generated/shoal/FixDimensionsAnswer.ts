// Original file: protos/shoal/schema.proto

import type {
  SchemaPosition as _shoal_SchemaPosition,
  SchemaPosition__Output as _shoal_SchemaPosition__Output,
} from "../shoal/SchemaPosition.js";

export interface FixDimensionsAnswer {
  position?: _shoal_SchemaPosition | null;
  dimensions?: number;
}

export interface FixDimensionsAnswer__Output {
  position: _shoal_SchemaPosition__Output | null;
  dimensions: number;
}
