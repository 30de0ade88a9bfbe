// Original file: protos/shoal/jobs.proto

export interface ClaimRequest {
  worker?: string;
}

export interface ClaimRequest__Output {
  worker: string;
}
