import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MethodDefinition, ServiceDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

// As far from `dist` as from `src`.
const FOLDER = fileURLToPath(new URL("../../../../../protos", import.meta.url));

/** A vector on the wire: each number is a message of its own. */
export interface WireVector {
  readonly entries: readonly { readonly entry: number }[];
  readonly source?: readonly { readonly concept: string; readonly weight: number; readonly occurrence: number }[];
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

export interface WireWord {
  readonly word: string;
}

/** The service as it is loaded from its file. */
export interface ContextionaryDefinition extends ServiceDefinition {
  readonly Meta: MethodDefinition<object, { readonly version: string; readonly wordCount: number }>;
  readonly IsWordStopword: MethodDefinition<WireWord, { readonly stopword: boolean }>;
  readonly IsWordPresent: MethodDefinition<WireWord, { readonly present: boolean }>;
  readonly VectorForWord: MethodDefinition<WireWord, WireVector>;
  readonly MultiVectorForWord: MethodDefinition<
    { readonly words: readonly WireWord[] },
    { readonly vectors: readonly WireVector[] }
  >;
  readonly VectorForCorpi: MethodDefinition<
    {
      readonly corpi: readonly string[];
      readonly overrides: readonly { readonly word: string; readonly expression: string }[];
    },
    WireVector
  >;
  readonly NearestWordsByVector: MethodDefinition<WireNearestRequest, WireNearestWords>;
  readonly MultiNearestWordsByVector: MethodDefinition<
    { readonly params: readonly WireNearestRequest[] },
    { readonly words: readonly WireNearestWords[] }
  >;
  readonly AddExtension: MethodDefinition<
    { readonly concept: string; readonly definition: string; readonly weight: number },
    object
  >;
}

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
