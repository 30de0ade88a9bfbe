import type { ShardFilter } from "@shoal/model";
import type { ClassifiedReference, PreparedClassifier } from "@shoal/module-api";
import { nearSearch } from "@shoal/query";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { type ClassificationRun, vectorOf } from "./classification-run.js";
import { NO_LOSERS } from "./knn-vote.js";

const IDS = { properties: false, vector: false, extras: false } as const;

interface TargetClass {
  readonly record: ClassRecord;
  readonly filter: ShardFilter | undefined;
}

/** Each property refers to the nearest object of its own classes (reference-graphql 7.5); to none when there is none. */
export async function prepareZeroshot(run: ClassificationRun, context: RequestContext): Promise<PreparedClassifier> {
  const { router, profile } = run.parts;
  const properties = await Promise.all(
    run.request.classifyProperties.map(async (property) => ({
      property,
      targets: await Promise.all(
        run.targetClasses(property).map(async (record): Promise<TargetClass> => {
          return { record, filter: await run.filter("targetWhere", record.definition.class, context) };
        }),
      ),
    })),
  );
  const meta = profile.knnLosingMembersAlways ? NO_LOSERS : {};

  return {
    async classify(item, context) {
      const vector = vectorOf(item.vector);
      const found = await Promise.all(
        properties.map(async ({ property, targets }): Promise<ClassifiedReference | undefined> => {
          const target = await nearest(vector, targets, context);
          return target && { property, target, meta };
        }),
      );
      return found.filter((reference) => reference !== undefined);
    },
  };

  async function nearest(vector: Float32Array, targets: readonly TargetClass[], context: RequestContext) {
    const hits = await Promise.all(
      targets.map(async ({ record, filter }) => {
        const search = { vector, certainty: undefined, fields: IDS, filter };
        const [hit] = await nearSearch(router, record, search, { offset: 0, limit: 1 }, context);
        return { id: hit?.id, certainty: hit?.certainty ?? Number.NaN, className: record.definition.class };
      }),
    );
    let best:
      | { readonly id: NonNullable<(typeof hits)[number]["id"]>; certainty: number; className: string }
      | undefined;
    for (const { id, certainty, className } of hits) {
      // A vector without a length is near to nothing.
      if (id === undefined || Number.isNaN(certainty)) continue;
      const isNearer =
        best === undefined || certainty > best.certainty || (certainty === best.certainty && id < best.id);
      if (isNearer) best = { id, certainty, className };
    }
    return best;
  }
}
