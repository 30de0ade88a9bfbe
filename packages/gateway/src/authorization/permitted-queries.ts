import { type ClassRights, ShoalError } from "@shoal/model";
import type { ListQuery, QueryService } from "@shoal/query";
import type { RequestContext } from "@shoal/runtime";

type Arguments<Name extends keyof QueryService> = Parameters<QueryService[Name]>;

/** What whoever asks may do. Without it nothing is done where roles are on: a request that lost it would be allowed everything. */
export function requireRights({ rights }: RequestContext): ClassRights {
  if (rights === undefined) throw new ShoalError("internal", "a request has come without the rights of its user");
  return rights;
}

/**
 * Reads where roles are on. A class that is named must be readable, whether it is there or not; what is found on the way, the query
 * itself leaves out as if it were not there.
 */
export class PermittedQueries implements QueryService {
  constructor(private readonly inner: QueryService) {}

  async get(...[query, context]: Arguments<"get">) {
    requireRights(context).require("read_data", query.className);
    return this.inner.get(query, context);
  }

  async explore(...[query, context]: Arguments<"explore">) {
    requireRights(context);
    return this.inner.explore(query, context);
  }

  async aggregate(...[query, context]: Arguments<"aggregate">) {
    requireRights(context).require("read_data", query.className);
    return this.inner.aggregate(query, context);
  }

  async objectById(...[id, fields, context]: Arguments<"objectById">) {
    requireRights(context);
    return this.inner.objectById(id, fields, context);
  }

  async list(query: ListQuery, context: RequestContext) {
    const rights = requireRights(context);
    if (query.className !== undefined) rights.require("read_data", query.className);
    return this.inner.list(query, context);
  }

  async additional(...[objects, requests, place, context]: Arguments<"additional">) {
    requireRights(context);
    return this.inner.additional(objects, requests, place, context);
  }
}
