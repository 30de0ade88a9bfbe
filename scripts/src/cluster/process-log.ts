import { appendFileSync } from "node:fs";
import type { Readable } from "node:stream";

const LINES_KEPT = 20;

/** What a process prints: line by line into its file, and behind its name to everybody's stream. */
export class ProcessLog {
  readonly #name: string;
  readonly #file: string;
  readonly #write: (text: string) => void;
  readonly #last: string[] = [];

  /** `width`: of the longest name, so that the lines of all stand below each other. */
  constructor(name: string, width: number, file: string, write: (text: string) => void) {
    this.#name = name.padEnd(width);
    this.#file = file;
    this.#write = write;
  }

  /** The last lines, for an error that they explain. */
  get last(): string {
    return this.#last.join("\n");
  }

  follow(stream: Readable | null): void {
    let begun = "";
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (begun + chunk).split("\n");
      begun = lines.pop() ?? "";
      for (const line of lines) this.say(line);
    });
    stream?.on("end", () => {
      if (begun !== "") this.say(begun);
    });
  }

  say(line: string): void {
    this.#last.push(line);
    if (this.#last.length > LINES_KEPT) this.#last.shift();
    appendFileSync(this.#file, `${line}\n`);
    this.#write(`${this.#name} | ${line}\n`);
  }
}
