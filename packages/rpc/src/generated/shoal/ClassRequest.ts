// Original file: protos/shoal/schema.proto

import type { Long } from "@grpc/proto-loader";

export interface ClassRequest {
  definitionJson?: Buffer | Uint8Array | string;
  changeId?: string;
  plannedVersion?: number | string | Long;
  lostNodes?: string[];
}

export interface ClassRequest__Output {
  definitionJson: Buffer;
  changeId: string;
  plannedVersion: number;
  lostNodes: string[];
}
