import {
  type ClassificationRecord,
  type ClassificationService,
  maySeeClassification,
  readClassificationBody,
  requireClassificationRights,
} from "@shoal/classification";
import type { SchemaView } from "@shoal/cluster";
import type { RequestWarnings } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { requireRights } from "./permitted-queries.js";

/**
 * Classifications where roles are on: what whoever starts one must be allowed to, before anything is said of classes. While it
 * goes on, its run looks again.
 */
export class PermittedClassifications implements ClassificationService {
  constructor(
    private readonly inner: ClassificationService,
    private readonly view: SchemaView,
  ) {}

  async start(body: unknown, context: RequestContext, warnings?: RequestWarnings): Promise<ClassificationRecord> {
    const rights = requireRights(context);
    const given = readClassificationBody(body);
    // A class that is named is refused by its name, before it is looked up.
    requireClassificationRights(given, undefined, rights);
    await this.view.refresh(context);
    const { class: className = "" } = given;
    requireClassificationRights(given, this.view.classRecord(className)?.definition, rights);
    return this.inner.start(body, context, warnings);
  }

  /** One that is about a class that may not be read, also in its filters, is as if it were not there. */
  async find(id: string, context: RequestContext): Promise<ClassificationRecord | undefined> {
    const rights = requireRights(context);
    const record = await this.inner.find(id, context);
    if (record === undefined) return undefined;
    // What they are about, the class says as it is now.
    if (record.filters?.targetWhere !== undefined) await this.view.refresh(context);
    const isSeen = maySeeClassification(record, this.view.classRecord(record.class)?.definition, rights);
    return isSeen ? record : undefined;
  }
}
