import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { cleanEnvironment } from "../server-process.js";
import { type RunEnvironment, StartedProcess } from "../started-process.js";
import { undoAtEnd } from "./cleanup.js";

const LOG_TAIL_CHARS = 3_000;

/** The kernel kills what we start when we are gone, however that came about. Does not change the process id. */
const ENDS_WITH_US = ["setpriv", "--pdeathsig", "KILL", "--"];

export interface ProcessPlan {
  readonly name: string;
  /** The whole command line. Words in front of the program must end in an `exec` of it. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Both streams of all runs. */
  readonly logFile: string;
  /** Answers 200 when it is ready. */
  readonly readyUrl: string;
}

/** One process of a cluster, and what can be done to it. */
export class ClusterProcess extends StartedProcess {
  constructor(readonly plan: ProcessPlan) {
    super();
  }

  get name(): string {
    return this.plan.name;
  }

  get readyUrl(): string {
    return this.plan.readyUrl;
  }

  protected begin(env: RunEnvironment): ChildProcess {
    const [program = "", ...args] = [...ENDS_WITH_US, ...this.plan.command];
    const log = openSync(this.plan.logFile, "a");
    const child = spawn(program, args, {
      env: { ...cleanEnvironment(), ...this.plan.env, ...env },
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    // Before the folder goes that it writes to.
    const ending = undoAtEnd(() => child.kill("SIGKILL"));
    child.on("close", () => ending[Symbol.dispose]());
    return child;
  }

  log(): string {
    try {
      return readFileSync(this.plan.logFile, "utf8");
    } catch {
      return "";
    }
  }

  logTail(): string {
    return this.log().slice(-LOG_TAIL_CHARS);
  }
}
