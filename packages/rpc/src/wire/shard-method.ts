import type { RequestContext } from "@shoal/runtime";
import type { ShardService } from "../shard-service.js";
import type { ByteReader } from "./byte-reader.js";
import type { ByteWriter } from "./byte-writer.js";

/** How one method of `ShardService` crosses the wire. */
export interface ShardMethod<Request, Answer> {
  /** Stands on the wire; never given to another method. */
  readonly code: number;
  readonly name: string;
  /** Whether requests or answers may be so large that they take the stream for bulk, whatever the request's own size. */
  readonly isBulk: (request: Request) => boolean;
  readonly writeRequest: (writer: ByteWriter, request: Request) => void;
  readonly readRequest: (reader: ByteReader) => Request;
  /** For requests so long that others get their turns in between. Neither is there for methods whose requests are short. */
  readonly long?: LongRequests<Request>;
  readonly writeAnswer: (writer: ByteWriter, answer: Answer, request: Request) => void;
  readonly readAnswer: (reader: ByteReader, request: Request) => Answer;
  /** Whether what arrives of an answer counts as rows that are held. */
  readonly hasRows: (request: Request) => boolean;
  readonly serve: (service: ShardService, request: Request, context: RequestContext) => Promise<Answer>;
}

/** The same bytes as those of the method, taking turns. */
export interface LongRequests<Request> {
  readonly isLong: (request: Request) => boolean;
  readonly write: (writer: ByteWriter, request: Request) => Promise<void>;
  readonly read: (reader: ByteReader) => Promise<Request>;
}
