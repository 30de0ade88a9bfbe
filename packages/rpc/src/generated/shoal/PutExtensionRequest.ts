// Original file: protos/shoal/extensions.proto

import type {
  Extension as _shoal_Extension,
  Extension__Output as _shoal_Extension__Output,
} from "../shoal/Extension.js";

export interface PutExtensionRequest {
  extension?: _shoal_Extension | null;
}

export interface PutExtensionRequest__Output {
  extension: _shoal_Extension__Output | null;
}
