import type { RequestWarnings } from "@shoal/model";
import { refusedResponse } from "../graphql-response.js";
import type { CompileParts } from "../plan/compile-fields.js";
import { compileRequest, type RefusedRequest } from "../plan/compile-request.js";
import { RequestPlan } from "../plan/planned-call.js";
import { type ReadDocument, readDocument } from "./read-document.js";
import { type GraphQlRequest, readRequest } from "./request-body.js";

/** A request that was read and found valid. */
export interface PlannedRequest {
  readonly request: GraphQlRequest;
  readonly document: ReadDocument;
  readonly plan: RequestPlan;
}

/** A body that is read and planned when that is asked for, and only once. */
export class RequestReading {
  #read: PlannedRequest | RefusedRequest | undefined;

  constructor(
    private readonly body: Buffer,
    private readonly parts: CompileParts,
    private readonly warnings?: RequestWarnings,
  ) {}

  read(): PlannedRequest | RefusedRequest {
    this.#read ??= this.#planned();
    return this.#read;
  }

  #planned(): PlannedRequest | RefusedRequest {
    const read = readRequest(this.body, this.warnings);
    if ("refusal" in read) return { response: read.refusal, errors: 0 };
    const { request } = read;
    const document = readDocument(request, this.parts);
    if ("errors" in document) {
      return { response: refusedResponse(document.errors), errors: document.errors.length, isBySchema: true };
    }
    const plan = compileRequest(this.parts, request, document);
    return plan instanceof RequestPlan ? { request, document, plan } : plan;
  }
}
