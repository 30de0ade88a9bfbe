// Original file: protos/shoal/schema.proto

export interface ClassRequest {
  definitionJson?: Buffer | Uint8Array | string;
  changeId?: string;
}

export interface ClassRequest__Output {
  definitionJson: Buffer;
  changeId: string;
}
