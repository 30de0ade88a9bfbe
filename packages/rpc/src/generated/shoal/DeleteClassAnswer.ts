// Original file: protos/shoal/schema.proto

import type {
  SchemaPosition as _shoal_SchemaPosition,
  SchemaPosition__Output as _shoal_SchemaPosition__Output,
} from "../shoal/SchemaPosition.js";

export interface DeleteClassAnswer {
  position?: _shoal_SchemaPosition | null;
}

export interface DeleteClassAnswer__Output {
  position: _shoal_SchemaPosition__Output | null;
}
