// Original file: protos/shoal/jobs.proto

export interface JobAnswer {
  json?: Buffer | Uint8Array | string;
}

export interface JobAnswer__Output {
  json: Buffer;
}
