// Original file: protos/shoal/extensions.proto

import type {
  Extension as _shoal_Extension,
  Extension__Output as _shoal_Extension__Output,
} from "../shoal/Extension.js";
import type {
  ExtensionsPosition as _shoal_ExtensionsPosition,
  ExtensionsPosition__Output as _shoal_ExtensionsPosition__Output,
} from "../shoal/ExtensionsPosition.js";

export interface ExtensionsUpdate {
  position?: _shoal_ExtensionsPosition | null;
  whole?: boolean;
  changed?: _shoal_Extension[];
}

export interface ExtensionsUpdate__Output {
  position: _shoal_ExtensionsPosition__Output | null;
  whole: boolean;
  changed: _shoal_Extension__Output[];
}
