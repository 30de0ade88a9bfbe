import type { IncomingMessage, ServerResponse } from "node:http";
import { RequestWarnings } from "@shoal/model";
import type { RequestWitness, Share } from "@shoal/runtime";
import type { Principal } from "../auth/access.js";
import type { Connection } from "./connection.js";
import type { HttpResponse } from "./http-response.js";
import type { RouteStatistics } from "./http-statistics.js";
import type { RequestScope } from "./request-scope.js";
import type { Route } from "./route.js";

/** A route, and what is counted about it. */
export interface ServedRoute {
  readonly route: Route;
  readonly statistics: RouteStatistics;
}

/** Hears of a request and of its end. */
export interface ExchangeWitness extends RequestWitness {
  /** The request has been answered, or its client has gone. */
  ended(answer: HttpResponse): void;
}

/** A request and its answer on their way through the server; what is not known yet is undefined. */
export class Exchange {
  served: ServedRoute | undefined;
  params: readonly string[] = [];
  queryString = "";
  /** Held until the answer is sent. */
  body: Buffer | undefined;
  /** When its handler began, by the monotonic clock. */
  begunMs: number | undefined;
  /** Time that the complete body waited for its turn. */
  waitedMs = 0;
  /** Undefined before it is known, and where nobody asks. */
  principal: Principal | undefined;
  /** On its way to the audit log; undefined where there is none. */
  audited: ExchangeWitness | undefined;
  scope: RequestScope | undefined;
  /** What of the request has no effect. */
  readonly warnings = new RequestWarnings();

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly expectsContinue: boolean,
    readonly connection: Connection,
  ) {}

  get username(): string | undefined {
    return this.principal?.username;
  }

  /** For whom it takes turns and memory. */
  get share(): Share {
    return this.connection.shareOf(this.principal);
  }
}
