// Original file: protos/shoal/jobs.proto

export interface JobRequest {
  json?: Buffer | Uint8Array | string;
}

export interface JobRequest__Output {
  json: Buffer;
}
