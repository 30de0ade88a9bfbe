import type { Json } from "@shoal/model";
import type { JobsHandlers } from "../generated/shoal/Jobs.js";
import type { ClaimKey, JobService, JobsNotice, NewJob, RangeReport } from "../job-service.js";
import { sendLatest } from "./send-latest.js";
import { unaryHandler } from "./unary-handler.js";

/** `JobService` behind gRPC, until `stopped`. */
export function jobsHandlers(service: JobService, stopped: AbortSignal): JobsHandlers {
  return {
    Create: unaryHandler(async ({ json }, context) => answer(await service.create(read<NewJob>(json), context))),
    Find: unaryHandler(async ({ id }, context) => answer(await service.find(id, context))),
    Claim: unaryHandler(async ({ worker }, context) => answer(await service.claim(worker, context))),
    Report: unaryHandler(async ({ json }, context) => {
      await service.report(read<RangeReport>(json), context);
      return answer();
    }),
    Abort: unaryHandler(async ({ claimJson, error }, context) => {
      await service.abort(read<ClaimKey>(claimJson), error, context);
      return answer();
    }),
    Watch: (call) =>
      sendLatest<JobsNotice>(call, stopped, {
        watch: (listener) => service.watchJobs(listener),
        write: (notice) => call.write(notice),
      }),
  };
}

function answer(value?: object): { readonly json: Buffer } {
  return { json: value === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(value)) };
}

function read<T>(json: Buffer): T {
  return JSON.parse(json.toString()) as Json as unknown as T;
}
