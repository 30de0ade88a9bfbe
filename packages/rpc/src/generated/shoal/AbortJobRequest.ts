// Original file: protos/shoal/jobs.proto

export interface AbortJobRequest {
  claimJson?: Buffer | Uint8Array | string;
  error?: string;
}

export interface AbortJobRequest__Output {
  claimJson: Buffer;
  error: string;
}
