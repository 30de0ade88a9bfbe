import type { JobService, JobsNotice } from "../job-service.js";
import { checkWorker, readClaimKey, readNewJob, readRangeReport } from "../wire/job-codec.js";
import type { Handlers } from "../wire/service-definition.js";
import type { JOBS } from "../wire/services.js";
import { sendLatest } from "./send-latest.js";
import { unaryHandler } from "./unary-handler.js";

/** `JobService` behind gRPC, until `stopped`. */
export function jobsHandlers(service: JobService, stopped: AbortSignal): Handlers<typeof JOBS> {
  return {
    Create: unaryHandler(async ({ json }, context) => answer(await service.create(readNewJob(json), context))),
    Find: unaryHandler(async ({ id }, context) => answer(await service.find(id, context))),
    Claim: unaryHandler(async ({ worker }, context) => {
      checkWorker(worker);
      return answer(await service.claim(worker, context));
    }),
    Report: unaryHandler(async ({ json }, context) => {
      await service.report(readRangeReport(json), context);
      return answer();
    }),
    Abort: unaryHandler(async ({ claimJson, error }, context) => {
      await service.abort(readClaimKey(claimJson), error, context);
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
