// Original file: protos/shoal/jobs.proto

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  AbortJobRequest as _shoal_AbortJobRequest,
  AbortJobRequest__Output as _shoal_AbortJobRequest__Output,
} from "../shoal/AbortJobRequest.js";
import type {
  ClaimRequest as _shoal_ClaimRequest,
  ClaimRequest__Output as _shoal_ClaimRequest__Output,
} from "../shoal/ClaimRequest.js";
import type {
  FindJobRequest as _shoal_FindJobRequest,
  FindJobRequest__Output as _shoal_FindJobRequest__Output,
} from "../shoal/FindJobRequest.js";
import type {
  JobAnswer as _shoal_JobAnswer,
  JobAnswer__Output as _shoal_JobAnswer__Output,
} from "../shoal/JobAnswer.js";
import type {
  JobRequest as _shoal_JobRequest,
  JobRequest__Output as _shoal_JobRequest__Output,
} from "../shoal/JobRequest.js";
import type {
  JobsNotice as _shoal_JobsNotice,
  JobsNotice__Output as _shoal_JobsNotice__Output,
} from "../shoal/JobsNotice.js";
import type {
  WatchJobsRequest as _shoal_WatchJobsRequest,
  WatchJobsRequest__Output as _shoal_WatchJobsRequest__Output,
} from "../shoal/WatchJobsRequest.js";

export interface JobsHandlers extends grpc.UntypedServiceImplementation {
  Abort: grpc.handleUnaryCall<_shoal_AbortJobRequest__Output, _shoal_JobAnswer>;

  Claim: grpc.handleUnaryCall<_shoal_ClaimRequest__Output, _shoal_JobAnswer>;

  Create: grpc.handleUnaryCall<_shoal_JobRequest__Output, _shoal_JobAnswer>;

  Find: grpc.handleUnaryCall<_shoal_FindJobRequest__Output, _shoal_JobAnswer>;

  Report: grpc.handleUnaryCall<_shoal_JobRequest__Output, _shoal_JobAnswer>;

  Watch: grpc.handleServerStreamingCall<_shoal_WatchJobsRequest__Output, _shoal_JobsNotice>;
}

export interface JobsDefinition extends grpc.ServiceDefinition {
  Abort: MethodDefinition<
    _shoal_AbortJobRequest,
    _shoal_JobAnswer,
    _shoal_AbortJobRequest__Output,
    _shoal_JobAnswer__Output
  >;
  Claim: MethodDefinition<_shoal_ClaimRequest, _shoal_JobAnswer, _shoal_ClaimRequest__Output, _shoal_JobAnswer__Output>;
  Create: MethodDefinition<_shoal_JobRequest, _shoal_JobAnswer, _shoal_JobRequest__Output, _shoal_JobAnswer__Output>;
  Find: MethodDefinition<
    _shoal_FindJobRequest,
    _shoal_JobAnswer,
    _shoal_FindJobRequest__Output,
    _shoal_JobAnswer__Output
  >;
  Report: MethodDefinition<_shoal_JobRequest, _shoal_JobAnswer, _shoal_JobRequest__Output, _shoal_JobAnswer__Output>;
  Watch: MethodDefinition<
    _shoal_WatchJobsRequest,
    _shoal_JobsNotice,
    _shoal_WatchJobsRequest__Output,
    _shoal_JobsNotice__Output
  >;
}
