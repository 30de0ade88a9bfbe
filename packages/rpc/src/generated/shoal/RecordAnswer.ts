// Original file: protos/shoal/schema.proto

import type {
  SchemaPosition as _shoal_SchemaPosition,
  SchemaPosition__Output as _shoal_SchemaPosition__Output,
} from "../shoal/SchemaPosition.js";

export interface RecordAnswer {
  position?: _shoal_SchemaPosition | null;
  recordJson?: Buffer | Uint8Array | string;
  isMade?: boolean;
  added?: string[];
  _isMade?: "isMade";
}

export interface RecordAnswer__Output {
  position: _shoal_SchemaPosition__Output | null;
  recordJson: Buffer;
  isMade?: boolean;
  added: string[];
}
