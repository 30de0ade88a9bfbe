import type { ClassDefinition, Json, JsonObject, ObjectId, Properties } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";

/** An object that a property may be made to refer to. */
export interface ClassifierTarget {
  readonly id: ObjectId;
  readonly className: string;
  readonly vector: Float32Array;
}

/** An object that is to be classified. */
export interface ClassifierItem {
  readonly id: ObjectId;
  readonly properties: Properties;
  readonly vector: Float32Array | undefined;
}

/** What the run of a classification knows before its first item. */
export interface ClassifierRun {
  readonly definition: ClassDefinition;
  readonly basedOnProperties: readonly string[];
  readonly classifyProperties: readonly string[];
  /** As `Classifier.settings` gave them. */
  readonly settings: JsonObject;
  /** The objects that a property may refer to: those of its classes, `targetWhere` applied. */
  targets(property: string, context: RequestContext): Promise<readonly ClassifierTarget[]>;
  /** The values of the first based-on property, of all items. */
  texts(context: RequestContext): AsyncIterable<string>;
}

/** What a property is made to refer to. */
export interface ClassifiedReference {
  readonly property: string;
  readonly target: Pick<ClassifierTarget, "id" | "className">;
  /** Stored with the reference, as `classification`. */
  readonly meta: Readonly<Record<string, Json>>;
}

/** Ready for the items of one run, on one process. */
export interface PreparedClassifier {
  /** At most one reference a property; none where nothing fits. Fails with what is wrong with the item. */
  classify(item: ClassifierItem, context: RequestContext): Promise<readonly ClassifiedReference[]>;
}

/** A type of classification that a module brings. */
export interface Classifier {
  readonly type: string;
  /** The settings with their defaults: all that it has, and no others. Fails with `invalid` on what is no number (reference-rest 10.1). */
  settings(given: unknown): JsonObject;
  /** Whether `trainingSetWhere` makes sense. */
  readonly usesTrainingSet: boolean;
  /** The same whoever asks, as several processes may work on a run. Fails with what makes the whole run fail. */
  prepare(run: ClassifierRun, context: RequestContext): Promise<PreparedClassifier>;
}
