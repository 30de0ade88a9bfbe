// Original file: protos/shoal/frames.proto

import type {
  FrameKind as _shoal_FrameKind,
  FrameKind__Output as _shoal_FrameKind__Output,
} from "../shoal/FrameKind.js";

export interface Frame {
  request?: number;
  kind?: _shoal_FrameKind;
  payload?: Buffer | Uint8Array | string;
}

export interface Frame__Output {
  request: number;
  kind: _shoal_FrameKind__Output;
  payload: Buffer;
}
