import type { ClassDefinition, ObjectId } from "@shoal/model";
import type { ObjectInput } from "../ingest-service.js";
import { input, type Setup } from "../ingest-setup.fixture.js";

export const ID = "11111111-1111-1111-1111-111111111111" as ObjectId;
export const OTHER = "22222222-2222-2222-2222-222222222222" as ObjectId;
export const AUTO = { dataType: ["text"], description: "Auto generated property" };

export function withProperties(className: string, properties: unknown, rest: Partial<ObjectInput> = {}): ObjectInput {
  return input(className, { properties, ...rest });
}

export function definition({ cluster }: Setup, className: string): ClassDefinition | undefined {
  return cluster.classRecord(className)?.definition;
}

export function typesOf(setup: Setup, className: string): Record<string, readonly string[]> {
  const properties = definition(setup, className)?.properties ?? [];
  return Object.fromEntries(properties.map(({ name, dataType }) => [name, dataType]));
}

/** `stored` for each item, or its error. */
export async function batch({ ingest, context }: Setup, inputs: readonly ObjectInput[]): Promise<string[]> {
  const outcomes = await ingest.importObjects(inputs, context);
  return outcomes.map((outcome) => ("written" in outcome ? "stored" : outcome.error.message));
}
