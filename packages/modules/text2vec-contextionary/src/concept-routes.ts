import { isNestedDeeper, type Json, ShoalError } from "@shoal/model";
import { type InternalModuleRoute, type ModuleRequest, type ModuleRoute, splitCamelCase } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import * as z from "zod";
import type { Contextionary } from "./contextionary.js";
import type { StoredExtensions } from "./stored-extensions.js";

/** Neighbours that are shown of a word. */
const NEIGHBORS = 12;
/** Words that a name in camel case may have: each is compared with the whole vocabulary. */
const PARTS_MAX = 20;

const NEIGHBOR = z.object({ word: z.string(), distance: z.number().optional() });

const CONCEPT = z.object({
  individualWords: z.array(
    z.object({
      word: z.string(),
      present: z.boolean().optional(),
      info: z.object({ vector: z.array(z.number()), nearestNeighbors: z.array(NEIGHBOR) }).optional(),
    }),
  ),
  concatenatedWord: z
    .object({
      concatenatedWord: z.string(),
      singleWords: z.array(z.string()),
      concatenatedVector: z.array(z.number()),
      concatenatedNearestNeighbors: z.array(NEIGHBOR),
    })
    .optional(),
});

const EXTENSION = z.object({
  concept: z.string().describe("Lower-case letters and digits; one space between the words of a compound."),
  definition: z.string().describe("A text of words that are known."),
  weight: z.number().meta({ minimum: 0, maximum: 1 }).describe("As yet 1."),
});

/** Looking at words, and teaching new ones (reference-rest 11). */
export function conceptRoutes(contextionary: Contextionary): readonly ModuleRoute[] {
  return [
    {
      method: "GET",
      path: "concepts/{concept}",
      verb: "get",
      operation: {
        id: "getConcept",
        summary: "What the contextionary knows of a word",
        responses: {
          200: {
            description: "The word, or each of the words in camel case; unknown ones by name only.",
            schema: CONCEPT,
          },
          400: { description: "It has other characters than letters and digits." },
        },
      },
      handle: async ({ params, context }) => {
        return { status: 200, json: await describeConcept(contextionary, params[0] ?? "", context) };
      },
    },
    {
      method: "POST",
      path: "extensions",
      verb: "create",
      operation: {
        id: "addExtension",
        summary: "Teach the contextionary a word",
        body: {
          schema: EXTENSION,
          examples: {
            "a word": { concept: "wearable", definition: "small computer that is worn on the body", weight: 1 },
          },
        },
        responses: {
          200: { description: "What it was taught.", schema: EXTENSION },
          400: { description: "It breaks a rule for extensions, or none of the definition's words is known." },
        },
      },
      handle: (request) => addExtension(contextionary, request),
    },
  ];
}

async function describeConcept(contextionary: Contextionary, concept: string, context: RequestContext): Promise<Json> {
  if (!/^[\p{L}\p{N}]+$/u.test(concept)) {
    throw new ShoalError("malformed", "invalid word input: words must only contain unicode letters and digits");
  }
  const words = partsOf(concept);
  if (words.length > PARTS_MAX) {
    throw new ShoalError("malformed", `invalid word input: ${words.length} words in one, at most ${PARTS_MAX} may be`);
  }
  const individualWords: Awaited<ReturnType<typeof describeWord>>[] = [];
  // One after the other: each takes a thread that writes need, too.
  for (const word of words) {
    context.signal?.throwIfAborted();
    individualWords.push(await describeWord(contextionary, word, context));
  }
  if (words.length < 2 || !individualWords.every((word) => "present" in word)) return { individualWords };
  const vector = await vectorOfAll(contextionary, words, context);
  if (vector === undefined) return { individualWords };
  return {
    individualWords,
    concatenatedWord: {
      concatenatedWord: concept,
      singleWords: [...words],
      concatenatedVector: [...vector],
      concatenatedNearestNeighbors: await neighborsOf(contextionary, vector, context),
    },
  };
}

/** Undefined when there are nothing but stop words. */
async function vectorOfAll(contextionary: Contextionary, words: readonly string[], context: RequestContext) {
  try {
    return (await contextionary.vectorForCorpora([words.join(" ")], [], context)).vector;
  } catch (thrown) {
    if (ShoalError.from(thrown).code === "invalid") return undefined;
    throw thrown;
  }
}

/** The words of a name in camel case; digits belong to the word before them. */
function partsOf(concept: string): readonly string[] {
  const parts: string[] = [];
  for (const part of splitCamelCase(concept)) {
    if (/^\p{N}/u.test(part) && parts.length > 0) parts[parts.length - 1] += part;
    else parts.push(part.toLowerCase());
  }
  return parts;
}

async function describeWord(contextionary: Contextionary, word: string, context: RequestContext) {
  const vector = await contextionary.vectorForWord(word, context);
  if (vector === undefined) return { word };
  const nearestNeighbors = await neighborsOf(contextionary, vector, context);
  return { info: { nearestNeighbors, vector: [...vector] }, present: true, word };
}

/** A distance of 0 is left out. */
async function neighborsOf(contextionary: Contextionary, vector: Float32Array, context: RequestContext) {
  const nearest = await contextionary.nearestWords(vector, NEIGHBORS, context);
  return nearest.map(({ word, distance }) => (distance === 0 ? { word } : { distance, word }));
}

async function addExtension(contextionary: Contextionary, { body, context }: ModuleRequest) {
  const { concept, definition, weight } = readExtensionBody(body);
  try {
    await contextionary.addExtension(concept, definition, weight, context);
  } catch (thrown) {
    const { code, message } = ShoalError.from(thrown);
    if (code !== "invalid") throw thrown;
    throw new ShoalError("malformed", message, { cause: thrown });
  }
  return { status: 200, json: { concept, definition, weight } };
}

function readExtensionBody(body: Buffer): z.infer<typeof EXTENSION> {
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch (cause) {
    throw new ShoalError("invalid", "the body of an extension must be JSON", { cause });
  }
  const parsed = EXTENSION.partial().safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ShoalError("invalid", `${issue?.path.join(".") || "the body"} of an extension: ${issue?.message}`);
  }
  const { concept = "", definition = "", weight = 0 } = parsed.data;
  return { concept, definition, weight };
}

const STORED_DEPTH_MAX = 200;

/** Where contextionary containers keep what they are taught, and look for what others were (reference-graphql 8.3). */
export function extensionStorageRoutes(extensions: StoredExtensions): readonly InternalModuleRoute[] {
  return [
    {
      methods: ["GET", "PUT"],
      path: "extensions-storage/",
      async handle(method, concept, body, context) {
        if (method === "PUT") {
          if (concept === "") return { status: 404 };
          await extensions.putStored(concept, storedJson(body), context);
          return { status: 200 };
        }
        if (concept === "") {
          return { status: 200, text: extensions.allStored.map((value) => `${JSON.stringify(value)}\n`).join("") };
        }
        const value = extensions.stored(concept);
        return value === undefined ? { status: 404 } : { status: 200, text: JSON.stringify(value) };
      },
    },
  ];
}

function storedJson(body: Buffer): Json {
  let value: Json;
  try {
    value = JSON.parse(body.toString("utf8")) as Json;
  } catch (cause) {
    throw new ShoalError("malformed", "the body of a stored extension must be JSON", { cause });
  }
  // All of them are given out together: one that could not be written would keep the others in.
  if (isNestedDeeper(value, STORED_DEPTH_MAX)) {
    throw new ShoalError("malformed", `a stored extension must not be nested deeper than ${STORED_DEPTH_MAX} levels`);
  }
  return value;
}
