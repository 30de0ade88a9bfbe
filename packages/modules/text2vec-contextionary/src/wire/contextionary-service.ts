import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MethodDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import type { SourceWord, WordOverride } from "../contextionary.js";

// As far from `dist` as from `src`.
const FOLDER = fileURLToPath(new URL("../../../../../protos", import.meta.url));

/** A vector on the wire: each number is a message of its own. */
export interface WireVector {
  readonly entries: readonly { readonly entry: number }[];
  readonly source?: readonly SourceWord[];
}

export interface WireNearestWords {
  readonly words: readonly string[];
  readonly distances: readonly number[];
}

export interface WireNearestRequest {
  readonly vector: WireVector;
  readonly k: number;
  readonly n: number;
}

/** What its methods are asked, and what they answer. */
export interface ContextionaryMethods {
  Meta: [asked: object, response: { readonly version: string; readonly wordCount: number }];
  IsWordStopword: [asked: WireWord, response: { readonly stopword: boolean }];
  IsWordPresent: [asked: WireWord, response: { readonly present: boolean }];
  VectorForWord: [asked: WireWord, response: WireVector];
  MultiVectorForWord: [
    asked: { readonly words: readonly WireWord[] },
    response: { readonly vectors: readonly WireVector[] },
  ];
  VectorForCorpi: [
    asked: { readonly corpi: readonly string[]; readonly overrides: readonly WordOverride[] },
    response: WireVector,
  ];
  NearestWordsByVector: [asked: WireNearestRequest, response: WireNearestWords];
  MultiNearestWordsByVector: [
    asked: { readonly params: readonly WireNearestRequest[] },
    response: { readonly words: readonly WireNearestWords[] },
  ];
  AddExtension: [
    asked: { readonly concept: string; readonly definition: string; readonly weight: number },
    response: object,
  ];
}

interface WireWord {
  readonly word: string;
}

/** The service as it is loaded from its file. */
type ContextionaryDefinition = {
  readonly [Name in keyof ContextionaryMethods]: MethodDefinition<
    ContextionaryMethods[Name][0],
    ContextionaryMethods[Name][1]
  >;
};

let loaded: ContextionaryDefinition | undefined;

/** Read at the first use. */
export function contextionaryService(): ContextionaryDefinition {
  loaded ??= loadSync(join(FOLDER, "contextionary", "contextionary.proto"), {
    keepCase: true,
    longs: Number,
    defaults: true,
  })["contextionary.Contextionary"] as unknown as ContextionaryDefinition;
  return loaded;
}

export function wireVector(vector: Float32Array): WireVector {
  return { entries: Array.from(vector, (entry) => ({ entry })) };
}

export function vectorOfWire({ entries }: WireVector): Float32Array {
  return Float32Array.from(entries, ({ entry }) => entry);
}

/** Both sides take messages of so many bytes. */
export const MESSAGE_BYTES_MAX = 48 * 1024 * 1024;
