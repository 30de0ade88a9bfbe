// Original file: protos/shoal/frames.proto

import type { Frame as _shoal_Frame, Frame__Output as _shoal_Frame__Output } from "../shoal/Frame.js";

export interface Packet {
  frames?: _shoal_Frame[];
}

export interface Packet__Output {
  frames: _shoal_Frame__Output[];
}
