import type { ClassDefinition, ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import type { SchemaService, SchemaSnapshot } from "../schema-service.js";

export interface OpenedSchema extends AsyncDisposable {
  readonly service: SchemaService;
}

const context = { deadline: Number.POSITIVE_INFINITY };

/** A class as the coordinator takes it from other processes: whole. */
export function definitionOf(name: string, propertyCount = 1): ClassDefinition {
  return {
    class: name,
    description: "ä 漢 🐟",
    invertedIndexConfig: { cleanupIntervalSeconds: 60 },
    moduleConfig: { some: { nested: [1, null, true] } },
    properties: Array.from({ length: propertyCount }, (_, at) => ({ name: `p${at}`, dataType: ["text"] })),
    shardingConfig: {
      virtualPerPhysical: 128,
      desiredCount: 1,
      actualCount: 1,
      desiredVirtualCount: 128,
      actualVirtualCount: 128,
      key: "_id",
      strategy: "hash",
      function: "murmur3",
    },
    vectorIndexConfig: {
      skip: false,
      cleanupIntervalSeconds: 300,
      maxConnections: 64,
      efConstruction: 128,
      ef: -1,
      vectorCacheMaxObjects: 500_000,
      flatSearchCutoff: 40_000,
    },
    vectorIndexType: "hnsw",
    vectorizer: "none",
  };
}

/** What every way to the schema promises; `open` gives a way to an empty one. */
export function describeSchemaService(name: string, open: () => Promise<OpenedSchema>): void {
  describe(`SchemaService ${name}`, () => {
    test("makes, changes and deletes classes, and tells the watchers of this process first", async () => {
      await using opened = await open();
      const { service } = opened;
      const seen: SchemaSnapshot[] = [];
      using _watch = service.watch((snapshot) => seen.push(snapshot));
      const named = () => seen.at(-1)?.classes.map(({ definition }) => definition.class);
      const car = await service.addClass(definitionOf("Car"), context);
      expect(named()).toEqual(["Car"]);
      expect(car.definition).toEqual(definitionOf("Car"));
      expect(car.dimensions).toBeUndefined();
      await service.addClass({ ...definitionOf("Boat"), properties: null }, context);
      expect(named()).toEqual(["Car", "Boat"]);
      expect(seen.at(-1)?.classes[1]?.definition.properties).toBeNull();
      const more = await service.addProperty("Car", { name: "seats", dataType: ["int"] }, context);
      expect(more.definition.properties?.map((property) => property.name)).toEqual(["p0", "seats"]);
      expect(seen.at(-1)?.classes[0]).toEqual(more);
      expect(await service.fixDimensions("Car", car.classId, 4, context)).toBe(4);
      expect(await service.fixDimensions("Car", car.classId, 5, context)).toBe(4);
      expect(seen.at(-1)?.classes[0]?.dimensions).toBe(4);
      const wide = { name: "wide", dataType: ["Boat", "Car"], indexInverted: false };
      const widened = await service.ensureProperties("Car", car.classId, [wide, wide], context);
      expect(widened).toEqual({ record: seen.at(-1)?.classes[0], added: ["wide"] });
      expect((await service.ensureProperties("Car", car.classId, [wide], context)).added).toEqual([]);
      const made = await service.ensureClass(definitionOf("Bike", 3), context);
      expect(made).toEqual({ record: seen.at(-1)?.classes[2], isMade: true });
      expect(await service.ensureClass(definitionOf("Bike", 9), context)).toEqual({ ...made, isMade: false });
      const { version } = await service.current(context);
      const quiet = { ...definitionOf("Bike", 3), description: "quiet" };
      expect((await service.updateClass(quiet, version, context)).definition.description).toBe("quiet");
      await service.deleteClass({ className: "Car", classId: car.classId }, context);
      expect(named()).toEqual(["Boat", "Bike"]);
      expect(await service.current(context)).toEqual(seen.at(-1));
      const versions = seen.map((snapshot) => snapshot.version);
      expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
    });

    test("fails as the coordinator does", async () => {
      await using opened = await open();
      const { service } = opened;
      const codeOf = (change: Promise<unknown>) =>
        change.then(
          () => "made",
          (error: ShoalError) => error.code,
        );
      await service.addClass(definitionOf("Car"), context);
      expect(await codeOf(service.addClass(definitionOf("Car"), context))).toBe("invalid");
      expect(await codeOf(service.updateClass(definitionOf("Car"), 0, context))).toBe("conflict");
      expect(await codeOf(service.deleteClass({ className: "Böat", classId: undefined }, context))).toBe("notFound");
      await expect(service.deleteClass({ className: "Böat", classId: undefined }, context)).rejects.toThrow(
        "could not find class 'Böat'",
      );
    });

    test("tells every watcher the same, however quickly changes follow each other", async () => {
      await using opened = await open();
      const { service } = opened;
      const seed = Number(process.env.RPC_SEED) || 3;
      const { below } = seededRandom(seed);
      const seen: SchemaSnapshot[][] = [[], []];
      using _first = service.watch((snapshot) => seen[0]?.push(snapshot));
      using _second = service.watch((snapshot) => seen[1]?.push(snapshot));
      for (let round = 0; round < 20; round++) {
        await Promise.all(
          Array.from({ length: 5 }, () => {
            const name = `C${below(8)}`;
            const classId = seen[0]?.at(-1)?.classes.find(({ definition }) => definition.class === name)?.classId;
            if (below(4) === 0)
              return service.deleteClass({ className: name, classId }, context).catch(() => undefined);
            return service.ensureClass(definitionOf(name, below(9)), context);
          }),
        );
      }
      const last = await service.current(context);
      expect(seen[0]?.at(-1), `seed ${seed}`).toEqual(last);
      expect(seen[1]).toEqual(seen[0]);
    });
  });
}
