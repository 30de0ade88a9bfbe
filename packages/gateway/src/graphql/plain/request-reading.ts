import type { RequestWarnings } from "@shoal/model";
import type { GraphQlAnswer } from "../answer.js";
import { type GraphQlRequest, readRequest } from "../request-body.js";
import { type ReadDocument, type ReadOptions, type ReadOutcome, readDocument } from "./read-document.js";

/** A body whose request and document are read when they are asked for, and only once. */
export class RequestReading {
  readonly #body: Buffer;
  readonly #options: ReadOptions;
  readonly #warnings: RequestWarnings | undefined;
  #read: ReturnType<typeof readRequest> | undefined;
  #outcome: ReadOutcome | undefined;

  constructor(body: Buffer, options: ReadOptions, warnings?: RequestWarnings) {
    this.#body = body;
    this.#warnings = warnings;
    this.#options = options;
  }

  request(): { readonly request: GraphQlRequest } | { readonly refusal: GraphQlAnswer } {
    this.#read ??= readRequest(this.#body, this.#warnings);
    return this.#read;
  }

  document(request: GraphQlRequest): ReadOutcome {
    this.#outcome ??= readDocument(request, this.#options);
    return this.#outcome;
  }

  /** Request and document, or undefined when one of them is refused. */
  valid(): { readonly request: GraphQlRequest; readonly document: ReadDocument } | undefined {
    const read = this.request();
    if ("refusal" in read) return undefined;
    const document = this.document(read.request);
    return "errors" in document ? undefined : { request: read.request, document };
  }
}
