import { spawn } from "node:child_process";
import { constants } from "node:os";

/** A step of the set-up that failed: one line for the person, and what the command printed. */
export class SetUpError extends Error {
  constructor(message, details = "") {
    super(message);
    this.details = details;
  }
}

const OUTPUT_CHARS_MAX = 200_000;
const running = new Set();

/**
 * Runs a command to its end without showing its output. Resolves to what it printed when it exits with 0; fails with a
 * SetUpError that holds `failure` and the output otherwise. The command gets a process group of its own, so that
 * an interrupt ends all of it.
 */
export function runCommand(failure, command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    running.add(child);
    let output = "";
    const take = (chunk) => {
      output = (output + chunk).slice(-OUTPUT_CHARS_MAX);
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    child.on("error", (error) => {
      running.delete(child);
      reject(new SetUpError(`${failure}: ${error.message}`));
    });
    child.on("close", (code, signal) => {
      running.delete(child);
      if (code === 0) resolve(output);
      else reject(new SetUpError(`${failure} (${signal ?? `exit code ${code}`})`, output));
    });
  });
}

/** While `work` runs, SIGINT and SIGTERM end its commands and then this process, with 128 + the signal's number. */
export async function interruptible(work) {
  const stop = (signal) => {
    for (const child of running) {
      try {
        process.kill(-child.pid, "SIGTERM");
      } catch {
        // It ended in the meantime.
      }
    }
    process.exit(128 + constants.signals[signal]);
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  try {
    return await work();
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  }
}
