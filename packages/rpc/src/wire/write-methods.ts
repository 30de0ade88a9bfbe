import type { StoredObject } from "@shoal/model";
import {
  type DataObject,
  type ObjectId,
  type ObjectMerge,
  type PutMode,
  type PutTimes,
  ShoalError,
} from "@shoal/model";
import type { ShardAddress } from "../shard-service.js";
import type { ByteReader } from "./byte-reader.js";
import type { ByteWriter } from "./byte-writer.js";
import { readError, writeError } from "./error-codec.js";
import {
  readAddress,
  readDataObject,
  readMerge,
  readStoredObject,
  readTimes,
  writeAddress,
  writeDataObject,
  writeMerge,
  writeStoredObject,
  writeTimes,
} from "./object-codec.js";
import type { ShardMethod } from "./shard-method.js";

const MODES: readonly PutMode[] = ["create", "replace", "upsert"];

/** Shorter lists are written and read at once. */
const LONG_ITEMS = 16;

type Outcomes = readonly (PutTimes | ShoalError)[];

/** Requests that are large take the bulk stream for that alone. */
const never = () => false;

export const PUT_OBJECTS: ShardMethod<
  { readonly shard: ShardAddress; readonly objects: readonly DataObject[]; readonly mode: PutMode },
  Outcomes
> = {
  code: 1,
  name: "putObjects",
  isBulk: never,
  hasRows: never,
  writeRequest(writer, { shard, objects, mode }) {
    writeAddress(writer, shard);
    writer.byte(MODES.indexOf(mode));
    writer.list(objects, (to, object) => writeDataObject(to, object, shard.className));
  },
  readRequest(reader) {
    const shard = readAddress(reader);
    const mode = reader.choice(MODES, "mode of a put");
    return { shard, mode, objects: reader.list((from) => readDataObject(from, shard.className)) };
  },
  long: {
    isLong: ({ objects }) => objects.length > LONG_ITEMS,
    async write(writer, { shard, objects, mode }) {
      writeAddress(writer, shard);
      writer.byte(MODES.indexOf(mode));
      await writer.listInTurns(objects, (to, object) => writeDataObject(to, object, shard.className));
    },
    async read(reader) {
      const shard = readAddress(reader);
      const mode = reader.choice(MODES, "mode of a put");
      return { shard, mode, objects: await reader.listInTurns((from) => readDataObject(from, shard.className)) };
    },
  },
  writeAnswer: writeOutcomes,
  readAnswer: readOutcomes,
  serve: (service, { shard, objects, mode }, context) => service.putObjects(shard, objects, mode, context),
};

export const MERGE_OBJECT: ShardMethod<{ readonly shard: ShardAddress; readonly merge: ObjectMerge }, StoredObject> = {
  code: 2,
  name: "mergeObject",
  isBulk: never,
  hasRows: () => true,
  writeRequest(writer, { shard, merge }) {
    writeAddress(writer, shard);
    writeMerge(writer, merge);
  },
  readRequest: (reader) => ({ shard: readAddress(reader), merge: readMerge(reader) }),
  writeAnswer: (writer, object, { shard }) => writeStoredObject(writer, object, shard.className),
  readAnswer: (reader, { shard }) => readStoredObject(reader, shard.className),
  serve: (service, { shard, merge }, context) => service.mergeObject(shard, merge, context),
};

export const MERGE_OBJECTS: ShardMethod<
  { readonly shard: ShardAddress; readonly merges: readonly ObjectMerge[] },
  Outcomes
> = {
  code: 3,
  name: "mergeObjects",
  isBulk: never,
  hasRows: never,
  writeRequest(writer, { shard, merges }) {
    writeAddress(writer, shard);
    writer.list(merges, writeMerge);
  },
  readRequest: (reader) => ({ shard: readAddress(reader), merges: reader.list(readMerge) }),
  long: {
    isLong: ({ merges }) => merges.length > LONG_ITEMS,
    async write(writer, { shard, merges }) {
      writeAddress(writer, shard);
      await writer.listInTurns(merges, writeMerge);
    },
    read: async (reader) => ({ shard: readAddress(reader), merges: await reader.listInTurns(readMerge) }),
  },
  writeAnswer: writeOutcomes,
  readAnswer: readOutcomes,
  serve: (service, { shard, merges }, context) => service.mergeObjects(shard, merges, context),
};

export const DELETE_OBJECT: ShardMethod<{ readonly shard: ShardAddress; readonly id: ObjectId }, boolean> = {
  code: 4,
  name: "deleteObject",
  isBulk: never,
  hasRows: never,
  writeRequest(writer, { shard, id }) {
    writeAddress(writer, shard);
    writer.id(id);
  },
  readRequest: (reader) => ({ shard: readAddress(reader), id: reader.id() }),
  writeAnswer: (writer, wasThere) => writer.flag(wasThere),
  readAnswer: (reader) => reader.flag(),
  serve: (service, { shard, id }, context) => service.deleteObject(shard, id, context),
};

function writeOutcomes(writer: ByteWriter, outcomes: Outcomes): void {
  writer.list(outcomes, (to, outcome) => {
    to.flag(outcome instanceof ShoalError);
    if (outcome instanceof ShoalError) writeError(to, outcome);
    else writeTimes(to, outcome);
  });
}

function readOutcomes(reader: ByteReader): Outcomes {
  return reader.list((from) => (from.flag() ? readError(from) : readTimes(from)));
}
