import { jsonMember, ShoalError, type StoredObject, UnavailableHere, withPrefix } from "@shoal/model";
import type { ClassifierTarget, PreparedClassifier } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import type { ClassificationRun } from "./classification-run.js";
import { NO_LOSERS } from "./knn-vote.js";

/** Vectors of so many possible targets are kept. */
const TARGETS_MAX = 100_000;

const VECTORS = { properties: false, vector: true, extras: false } as const;
const TEXTS = { properties: true, vector: false, extras: true } as const;

/** A type that a module brings. Fails with `invalid` when no module does, with `unavailable` when one does elsewhere. */
export async function prepareModuleClassifier(
  run: ClassificationRun,
  context: RequestContext,
): Promise<PreparedClassifier> {
  const { request, record, parts } = run;
  const classifier = parts.modules.classifier(request.type);
  if (classifier === undefined && request.isKnownType === true) {
    throw new UnavailableHere(`no module here brings the classifier ${request.type}, which others have`);
  }
  if (classifier === undefined) {
    throw new ShoalError("invalid", `prepare classification: cannot classify: classifier ${request.type} not found`);
  }
  const { basedOnProperties, classifyProperties, settings = {} } = request;
  const { knnLosingMembersAlways } = parts.profile;
  try {
    const prepared = await classifier.prepare(
      {
        definition: record.definition,
        basedOnProperties,
        classifyProperties,
        settings,
        targets: (property) => targetsOf(run, property, context),
        texts: () => textsOf(run, context),
      },
      context,
    );
    return knnLosingMembersAlways ? withoutLosers(prepared) : prepared;
  } catch (thrown) {
    throw withPrefix("prepare classification: ", thrown);
  }
}

/** As such references read back under the reference (reference-graphql 7.6). */
function withoutLosers(prepared: PreparedClassifier): PreparedClassifier {
  return {
    async classify(item, context) {
      const references = await prepared.classify(item, context);
      return references.map((reference) => ({ ...reference, meta: { ...reference.meta, ...NO_LOSERS } }));
    },
  };
}

async function targetsOf(
  run: ClassificationRun,
  property: string,
  context: RequestContext,
): Promise<readonly ClassifierTarget[]> {
  const targets: ClassifierTarget[] = [];
  for (const record of run.targetClasses(property)) {
    const className = record.definition.class;
    const filter = await run.filter("targetWhere", className, context);
    for await (const { id, vector } of run.objects(record, filter, VECTORS, context)) {
      if (vector !== undefined) targets.push({ id, className, vector });
      if (targets.length > TARGETS_MAX) {
        throw new ShoalError("tooLarge", `property '${property}' has more than ${TARGETS_MAX} possible targets`);
      }
    }
  }
  return targets;
}

/** Of all items, those that are classified by now, too. */
async function* textsOf(run: ClassificationRun, context: RequestContext): AsyncGenerator<string> {
  const { request, record } = run;
  const [basedOn = ""] = request.basedOnProperties;
  const filter = await run.filter("sourceWhere", request.class, context);
  for await (const object of run.objects(record, filter, TEXTS, context)) {
    if (!run.hasClassified(object) && isLabelled(object, request.classifyProperties)) continue;
    const text = jsonMember(object.propertiesJson, basedOn);
    if (typeof text === "string") yield text;
  }
}

function isLabelled(object: StoredObject, properties: readonly string[]): boolean {
  return properties.some((property) => {
    const references = jsonMember(object.propertiesJson, property);
    return Array.isArray(references) && references.length > 0;
  });
}
