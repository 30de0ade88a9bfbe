// Original file: protos/shoal/jobs.proto

export interface FindJobRequest {
  id?: string;
}

export interface FindJobRequest__Output {
  id: string;
}
