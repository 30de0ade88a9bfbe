// Original file: protos/shoal/jobs.proto

export interface WatchJobsRequest {
  caller?: string;
}

export interface WatchJobsRequest__Output {
  caller: string;
}
