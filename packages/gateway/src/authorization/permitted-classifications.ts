import { type ClassificationRecord, type ClassificationService, readClassificationBody } from "@shoal/classification";
import type { SchemaView } from "@shoal/cluster";
import { type ClassRights, isReferenceDataType, isUncheckedObject } from "@shoal/model";
import type { RequestContext } from "@shoal/rpc";
import { requireRights } from "./permitted-queries.js";

/**
 * Classifications where roles are on: one reads its class and those that it may refer to, also on the way of its filters, and
 * writes into its class. What was allowed when it began goes on when the right is taken away.
 */
export class PermittedClassifications implements ClassificationService {
  readonly #inner: ClassificationService;
  readonly #view: SchemaView;

  constructor(inner: ClassificationService, view: SchemaView) {
    this.#inner = inner;
    this.#view = view;
  }

  async start(body: unknown, context: RequestContext): Promise<ClassificationRecord> {
    const rights = requireRights(context);
    const given = readClassificationBody(body);
    const { class: className = "", classifyProperties = [], filters } = given;
    if (className !== "") {
      rights.require("update_data", className);
      rights.require("read_data", className);
    }
    await this.#view.refresh(context);
    const properties = this.#view.classRecord(className)?.definition.properties ?? [];
    for (const { name, dataType } of properties) {
      if (!classifyProperties.includes(name) || !isReferenceDataType(dataType)) continue;
      for (const target of dataType) rights.require("read_data", target);
    }
    requirePaths(filters, rights);
    return this.#inner.start(body, context);
  }

  /** One of a class that may not be read is as if it were not there. */
  async find(id: string, context: RequestContext): Promise<ClassificationRecord | undefined> {
    const rights = requireRights(context);
    const record = await this.#inner.find(id, context);
    return record !== undefined && rights.mayRead(record.class) ? record : undefined;
  }
}

/** The classes in the paths of filters, wherever they stand: property, Class, property, Class, property. */
function requirePaths(filter: unknown, rights: ClassRights): void {
  if (Array.isArray(filter)) for (const one of filter) requirePaths(one, rights);
  if (!isUncheckedObject(filter)) return;
  for (const [name, member] of Object.entries(filter)) {
    if (name.toLowerCase() !== "path") requirePaths(member, rights);
    else if (Array.isArray(member)) {
      for (const [at, segment] of member.entries()) {
        if (at % 2 === 1 && typeof segment === "string") rights.require("read_data", segment);
      }
    }
  }
}
