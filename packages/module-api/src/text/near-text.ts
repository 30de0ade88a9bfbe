import { CLIENT_PHRASES, type Json, type JsonObject, ShoalError, withPrefix } from "@shoal/model";
import type { LocatedText, SearchArgument, SearchWorld } from "../search-argument.js";
import type { InputField, InputShape } from "../shapes.js";

const CERTAINTY: InputField = { type: "Float", description: "The least certainty of rows." };
const CONCEPTS: InputField = { type: "String", list: true, description: "Words and phrases." };

/** The argument `nearText` that all text vectorizers share: concepts, and what to move to or away from. */
export const NEAR_TEXT: SearchArgument = {
  name: "nearText",
  typePrefix: "Txt2VecC11y",
  offeredTo: "ownClasses",
  input: ({ autocorrect }): InputShape => ({
    typeSuffix: "NearTextInpObj",
    fields: {
      concepts: { ...CONCEPTS, required: true },
      certainty: CERTAINTY,
      moveTo: { type: movementShape("MoveTo"), description: "What results shall be more like." },
      moveAwayFrom: { type: movementShape("MoveAwayFrom"), description: "What results shall be less like." },
      ...(autocorrect
        ? { autocorrect: { type: "Boolean", description: "Whether the concepts are corrected first." } as const }
        : {}),
    },
  }),
  texts: ({ concepts }): readonly LocatedText[] =>
    stringsOf(concepts).map((text, i) => ({ location: `nearText.concepts[${i}]`, text })),
  withTexts: (value, texts) => ({ ...value, concepts: [...texts] }),
  async vector(value, world) {
    const moves = [movementOf(value, "moveTo"), movementOf(value, "moveAwayFrom")];
    try {
      let vector = await world.vectorOfTexts(stringsOf(value.concepts));
      for (const [i, move] of moves.entries()) {
        if (move === undefined) continue;
        vector = moved(vector, await targetOf(move, world), move.force, i === 0 ? "to" : "away");
      }
      return vector;
    } catch (thrown) {
      throw withPrefix("nearText: ", thrown);
    }
  },
};

function movementShape(typeSuffix: string): InputShape {
  return {
    typeSuffix,
    fields: {
      concepts: CONCEPTS,
      objects: {
        type: {
          typeSuffix: `${typeSuffix}MovementObjectsInpObj`,
          fields: { id: { type: "String" }, beacon: { type: "String" } },
        },
        list: true,
        description: "Objects, by id or beacon; of both the beacon counts.",
      },
      force: { type: "Float", required: true, description: "How far: 0 is not at all, 1 half the way." },
    },
  };
}

interface Movement {
  readonly name: string;
  readonly concepts: readonly string[];
  readonly objects: readonly JsonObject[];
  readonly force: number;
}

/** Undefined when there is none: a force of 0 or less moves nothing. Fails with `invalid` when there is no target. */
function movementOf(value: JsonObject, name: "moveTo" | "moveAwayFrom"): Movement | undefined {
  const given = value[name];
  if (typeof given !== "object" || given === null || Array.isArray(given)) return undefined;
  const { concepts, objects, force } = given as JsonObject;
  if (typeof force !== "number" || force <= 0) return undefined;
  const movement = { name, concepts: stringsOf(concepts), objects: objectsOf(objects), force };
  if (movement.concepts.length > 0 || movement.objects.length > 0) return movement;
  throw new ShoalError(
    "invalid",
    `nearText.${name} needs concepts or objects to move to or away from, and has neither`,
  );
}

/** The mean of the vector of all concepts together and of those of the objects. */
async function targetOf({ name, concepts, objects }: Movement, world: SearchWorld): Promise<Float32Array> {
  try {
    const vectors = concepts.length === 0 ? [] : [await world.vectorOfTexts(concepts)];
    for (const { id, beacon } of objects)
      vectors.push(await world.vectorOfObject({ id: textOf(id), beacon: textOf(beacon) }));
    return meanOf(vectors);
  } catch (thrown) {
    throw withPrefix(`${name}: `, thrown);
  }
}

/** The mean, number by number. Fails with `invalid` when they have not the same length. */
export function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array(0)] = vectors;
  const sums = new Float64Array(first.length);
  for (const vector of vectors) {
    checkLength(vector, first);
    for (let at = 0; at < sums.length; at++) sums[at] = (sums[at] ?? 0) + (vector[at] ?? 0);
  }
  return Float32Array.from(sums, (sum) => sum / vectors.length);
}

/**
 * A vector that was moved (reference-graphql 2.7): to a target by half the force, `v·(1 − f/2) + t·f/2`; away from it,
 * `v + f/2·(v − t)`.
 */
function moved(vector: Float32Array, target: Float32Array, force: number, way: "to" | "away"): Float32Array {
  if (way === "to" && force > 1) {
    throw new ShoalError("invalid", `moveTo: force must be from 0 to 1, got ${force}`);
  }
  checkLength(target, vector);
  const half = way === "to" ? force / 2 : -force / 2;
  return vector.map((number, at) => number * (1 - half) + (target[at] ?? 0) * half);
}

function checkLength({ length }: Float32Array, other: Float32Array): void {
  if (length === other.length) return;
  throw new ShoalError(
    "invalid",
    `vectors of ${length} and of ${other.length} dimensions do not go together ` +
      `(${CLIENT_PHRASES.vectorLengths(length, other.length)})`,
  );
}

function stringsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function objectsOf(value: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item): item is JsonObject => typeof item === "object" && item !== null && !Array.isArray(item));
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
