import type { RequestContext } from "@shoal/runtime";
import type { ClaimKey, Job, JobClaim, JobService, JobsNotice, NewJob, RangeReport } from "../job-service.js";
import { WatchedValue } from "../watched-value.js";
import type { Read } from "../wire/protobuf.js";
import { type JOB_ANSWER, JOBS } from "../wire/services.js";
import type { CoordinatorCalls } from "./coordinator-calls.js";
import { FollowedStream } from "./followed-stream.js";

type JobAnswer = Read<typeof JOB_ANSWER>;

/** The client of `JobService`. */
export class CoordinatorJobs implements JobService, Disposable {
  readonly #calls: CoordinatorCalls;
  readonly #stream: FollowedStream<JobsNotice>;
  readonly #notice = new WatchedValue<JobsNotice | undefined>(undefined);

  constructor(calls: CoordinatorCalls) {
    this.#calls = calls;
    this.#stream = new FollowedStream<JobsNotice>({
      open: () => calls.listen(JOBS.Watch, {}),
      onItem: (notice) => this.#notice.set(notice),
    });
  }

  /** A job has an id: made twice it is made once. */
  async create(job: NewJob, context: RequestContext): Promise<Job> {
    return read<Job>(await this.#calls.ask(JOBS.Create, { json: written(job) }, context));
  }

  async find(id: string, context: RequestContext): Promise<Job | undefined> {
    return readOptional<Job>(await this.#calls.ask(JOBS.Find, { id }, context));
  }

  /** What was claimed and not heard of comes back to the same worker. */
  async claim(worker: string, context: RequestContext): Promise<JobClaim | undefined> {
    return readOptional<JobClaim>(await this.#calls.ask(JOBS.Claim, { worker }, context));
  }

  async report(report: RangeReport, context: RequestContext): Promise<void> {
    await this.#calls.ask(JOBS.Report, { json: written(report) }, context);
  }

  async abort(claim: ClaimKey, error: string, context: RequestContext): Promise<void> {
    await this.#calls.ask(JOBS.Abort, { claimJson: written(claim), error }, context);
  }

  watchJobs(listener: (notice: JobsNotice) => void): Disposable {
    return this.#notice.watch(listener);
  }

  [Symbol.dispose](): void {
    this.#stream[Symbol.dispose]();
    this.#notice.forgetListeners();
  }
}

function written(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function read<T>({ json }: JobAnswer): T {
  return JSON.parse(json.toString()) as T;
}

function readOptional<T>(answer: JobAnswer): T | undefined {
  return answer.json.length === 0 ? undefined : read<T>(answer);
}
