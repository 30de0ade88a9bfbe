import {
  jsonMember,
  LAST_UPDATE_TIME_PROPERTY,
  type ObjectId,
  ShoalError,
  type StoredObject,
  targetsOfReferences,
} from "@shoal/model";
import type { ClassifiedReference, PreparedClassifier } from "@shoal/module-api";
import { nearSearch } from "@shoal/query";
import type { RequestContext } from "@shoal/runtime";
import { allOf, type ClassificationRun, vectorOf } from "./classification-run.js";
import { type LabelledNeighbour, voteMeta, voteOf } from "./knn-vote.js";

/** Neighbours with what tells their labels. */
const LABELS = { properties: true, vector: false, extras: true } as const;

interface Neighbour {
  /** 0 to 1. */
  readonly distance: number;
  readonly object: StoredObject;
}

/**
 * The nearest labelled objects of the same class decide, by their number (reference-graphql 7.4). Labelled is what was so
 * before the run began: what it classifies itself teaches it nothing, so that the order of its items does not matter.
 */
export async function prepareKnn(run: ClassificationRun, context: RequestContext): Promise<PreparedClassifier> {
  const { request, record, job } = run;
  const k = Number(request.settings?.k);
  const before = { operator: "LessThanEqual", property: LAST_UPDATE_TIME_PROPERTY } as const;
  const filter = allOf([
    ...run.labelled(true),
    await run.filter("trainingSetWhere", request.class, context),
    // The clock of the coordinator may be behind that of the gateway that has just labelled them.
    { ...before, value: { kind: "int", values: [Math.max(job.startedMs, request.takenMs ?? 0)] } },
  ]);

  async function neighboursOf(vector: Float32Array, context: RequestContext): Promise<readonly Neighbour[]> {
    const search = { vector, certainty: undefined, fields: LABELS, filter };
    for (let count = k; ; count *= 2) {
      const rows = await nearSearch(run.parts.router, record, search, { offset: 0, limit: count }, context);
      const neighbours = rows.flatMap(({ object, certainty }) => {
        const isTaught = object === undefined || certainty === undefined || Number.isNaN(certainty);
        // Where clocks differ, the filter may let some of the run's own items through.
        return isTaught || run.hasClassified(object) ? [] : [{ object, distance: 1 - certainty }];
      });
      if (neighbours.length >= k || rows.length < count) return neighbours.slice(0, k);
    }
  }

  return {
    async classify({ vector }, context): Promise<readonly ClassifiedReference[]> {
      const neighbours = await neighboursOf(vectorOf(vector), context);
      if (neighbours.length === 0) return [];
      const labels = neighbours.map(({ object }, at) => labelsOf(object, request.classifyProperties, at));
      return request.classifyProperties.map((property, at) => {
        const labelled = neighbours.map(({ distance }, of): LabelledNeighbour => {
          return { distance, label: labels[of]?.[at] ?? "" };
        });
        const vote = voteOf(labelled);
        const target = {
          id: vote.label as ObjectId,
          className: run.targetClasses(property)[0]?.definition.class ?? "",
        };
        return { property, target, meta: voteMeta(vote, run.parts.profile.knnLosingMembersAlways) };
      });
    },
  };
}

/** The object that each property refers to. Fails with `invalid` unless it is exactly one. */
function labelsOf({ propertiesJson }: StoredObject, names: readonly string[], at: number): readonly ObjectId[] {
  return names.map((name) => {
    const targets = targetsOfReferences(jsonMember(propertiesJson, name));
    const [only] = targets;
    if (only !== undefined && targets.length === 1) return only;
    throw new ShoalError(
      "invalid",
      "aggregate: extract beacons from neighbors: a knn training data object needs to have exactly one label: " +
        `expected element[${at}].Schema.${name} to have exactly one reference, got: ${targets.length}`,
    );
  });
}
