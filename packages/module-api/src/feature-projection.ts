import { describeValue, type JsonObject, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { AdditionalProperty } from "./additional-property.js";

const PERPLEXITY_DEFAULT = 5;

/** How t-SNE lays points out. */
export interface ProjectionSettings {
  /** Numbers of each point. */
  readonly dimensions: number;
  /** How many neighbours a row has, roughly; less than the rows. */
  readonly perplexity: number;
  readonly iterations: number;
  readonly learningRate: number;
}

/** The points of rows, off the event loop. All vectors have one length; the same vectors give the same points. */
export type Project = (
  vectors: readonly Float32Array[],
  settings: ProjectionSettings,
  context: RequestContext,
) => Promise<readonly (readonly number[])[]>;

/** The rows of the page as points in few dimensions (reference-graphql 8.5), which all text vectorizers offer. */
export function featureProjection(project: Project): AdditionalProperty {
  return {
    name: "featureProjection",
    output: { type: { typeSuffix: "FeatureProjection", fields: { vector: { type: "Float", list: true } } } },
    arguments: {
      algorithm: { type: "String" },
      dimensions: { type: "Int" },
      learningRate: { type: "Int" },
      iterations: { type: "Int" },
      perplexity: { type: "Int" },
    },
    offeredIn: { list: true, search: true, restObject: false, restList: true },
    includeNames: ["featureProjection", "featureprojection", "feature-projection", "feature_projection"],
    reads: { properties: false, vector: true, extras: false },
    async values(rows, given, _search, context) {
      if (rows.length === 0) return [];
      const vectors = rows.map(({ object }, item) => vectorOf(object.vector, item));
      const length = vectors[0]?.length ?? 0;
      for (const vector of vectors) {
        if (vector.length === length) continue;
        throw new ShoalError(
          "invalid",
          `the rows have vectors of ${length} and of ${vector.length} dimensions, which cannot be projected together`,
        );
      }
      const settings = settingsOf(given, rows.length, length);
      return (await project(vectors, settings, context)).map((vector) => ({ vector: [...vector] }));
    },
  };
}

function vectorOf(vector: Float32Array | undefined, item: number): Float32Array {
  if (vector !== undefined && vector.length > 0) return vector;
  throw new ShoalError("invalid", `row ${item} has no vector`);
}

/** Fails with `invalid`, with all that is wrong. */
function settingsOf(given: JsonObject, rows: number, length: number): ProjectionSettings {
  const number = (name: string, fallback: number): number =>
    typeof given[name] === "number" ? (given[name] as number) : fallback;
  const settings = {
    dimensions: number("dimensions", 2),
    perplexity: number("perplexity", Math.min(rows - 1, PERPLEXITY_DEFAULT)),
    iterations: number("iterations", 100),
    learningRate: number("learningRate", 25),
  };
  const { dimensions, perplexity, iterations, learningRate } = settings;
  const faults: string[] = [];
  const { algorithm = "tsne" } = given;
  if (algorithm !== "tsne") faults.push(`algorithm must be "tsne", got ${describeValue(algorithm)}`);
  if (perplexity < 0) faults.push(`perplexity must be at least 0, got ${perplexity}`);
  if (perplexity >= rows && perplexity > 0) {
    faults.push(`perplexity must be less than the number of rows, ${rows}, got ${perplexity}`);
  }
  if (iterations < 1) faults.push(`iterations must be at least 1, got ${iterations}`);
  if (dimensions < 1) faults.push(`dimensions must be at least 1, got ${dimensions}`);
  if (dimensions >= length)
    faults.push(`dimensions must be less than those of the vectors, ${length}, got ${dimensions}`);
  if (learningRate < 1) faults.push(`learningRate must be at least 1, got ${learningRate}`);
  if (faults.length > 0) throw new ShoalError("invalid", faults.join(", "));
  return settings;
}
