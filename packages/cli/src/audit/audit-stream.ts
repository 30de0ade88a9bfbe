import type { Writable } from "node:stream";
import type { AuditOutput } from "./audit-output.js";

/** A stream of the process, such as stdout: lines are out when it has taken them. */
export class AuditStream implements AuditOutput {
  readonly name: string;
  readonly #stream: Writable;

  constructor(name: string, stream: Writable) {
    this.name = name;
    this.#stream = stream;
    // What becomes of a write is known by its callback; an error that nobody hears would end the process.
    stream.on("error", () => undefined);
  }

  append(lines: readonly Buffer[]): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#stream.write(Buffer.concat(lines), (error) => (error ? reject(error) : resolve(lines.length)));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
