import type { ObjectId } from "@shoal/model";
import type {
  Change,
  CopyMessage,
  EpochTable,
  Heartbeat,
  JournalPosition,
  ShardConfiguration,
} from "@shoal/replication";
import type { ShortMemory } from "@shoal/runtime";
import type { NodeMessage } from "../copy-service.js";
import { bytes, type Codec, count, double, flag, list, optional, record, text } from "./codec.js";

export const shardConfiguration: Codec<ShardConfiguration> = record({
  version: count,
  epoch: count,
  primary: text,
  claim: text,
  inSync: list(text),
  eligible: list(text),
  learners: list(text),
  minInSync: count,
});

const position: Codec<JournalPosition> = record({ epoch: count, sequence: count });
const epochTable: Codec<EpochTable> = list(record({ epoch: count, first: count }));
/** The id of an object. */
const document: Codec<string> = (wire, value) => wire.id(value as ObjectId | undefined);
/** The row is what is stored of the object: where it is read, a view of the message. */
const change = record<Change>({ document, row: optional(bytes) as Codec<unknown> });

/** A sequence; -1: not known. */
const upTo: Codec<number> = (wire, value) => wire.optional(value === -1 ? undefined : value, count) ?? -1;

const numberOfName = list<readonly [string, number]>((wire, entry) => [wire.text(entry?.[0]), wire.count(entry?.[1])]);
const numbersByName: Codec<ReadonlyMap<string, number>> = (wire, map) => {
  const entries = numberOfName(wire, map && [...map]);
  return map ?? new Map(entries);
};

type Message<Type> = Omit<Extract<CopyMessage, { readonly type: Type }>, "type">;

/** Places in this table are sent: it only grows. */
const BODY_OF_TYPE: { readonly [Type in CopyMessage["type"]]: Codec<Message<Type>> } = {
  hello: record({
    version: count,
    claim: text,
    number: count,
    session: optional(text),
    end: position,
    epochs: epochTable,
    base: count,
  }),
  lead: record({
    epoch: count,
    lead: count,
    needs: numbersByName,
    run: text,
    receiver: text,
    committed: upTo,
    version: count,
    start: count,
  }),
  led: record({ epoch: count, lead: count, end: position }),
  append: record({ epoch: count, previous: position, changes: list(change), committed: upTo }),
  appended: record({ epoch: count, session: optional(text), end: position }),
  committed: record({ epoch: count, sequence: count }),
  gap: record({ epoch: count, end: position }),
  stale: record({ version: count }),
  begin: record({ epoch: count, session: text, claim: text, number: count, common: position }),
  begun: record({ session: text, documents: list(document) }),
  rows: record({
    epoch: count,
    session: text,
    index: count,
    common: position,
    isFull: flag,
    rows: list(change),
    last: optional(record({ end: position, epochs: epochTable, through: count })),
  }),
  rowsDone: record({ session: text, index: count }),
  askEnd: record({ version: count, isOpen: flag }),
  end: record({ version: count, end: position }),
  revoke: record({ last: record({ epoch: count, lead: count }), version: count }),
  revoked: record({ version: count }),
};
const TYPES = Object.keys(BODY_OF_TYPE) as CopyMessage["type"][];

const copyMessage: Codec<CopyMessage> = (wire, value) => {
  const type = wire.choice(TYPES, "message between copies", value?.type);
  const body = (BODY_OF_TYPE[type] as Codec<object>)(wire, value);
  return value ?? ({ type, ...body } as CopyMessage);
};

const stamp = record<Heartbeat["stamp"]>({ run: text, at: double });
const heartbeat = record<Heartbeat>({ stamp, echo: optional(stamp), holds: numbersByName });
/** Places in this list are sent: it only grows. */
const SHORT_LEVELS = ["full", "exhausted"] as const;
const shortMemory = record<ShortMemory>({
  level: (wire, value) => wire.choice(SHORT_LEVELS, "level of memory", value),
  usedBytes: count,
  bytesMax: count,
});
const copy = record<Omit<Extract<NodeMessage, { readonly type: "copy" }>, "type">>({
  shard: text,
  from: text,
  to: text,
  message: copyMessage,
});

const graph = record<Omit<Extract<NodeMessage, { readonly type: "graph" }>, "type">>({
  ...{ shard: text, from: text, to: text, session: text, number: count },
  ...{ piece: bytes, isLast: flag },
});
const graphTaken = record<Omit<Extract<NodeMessage, { readonly type: "graphTaken" }>, "type">>({
  ...{ shard: text, from: text, to: text, session: text, number: count },
  isWanted: flag,
});

/** Places in this list are sent: it only grows. */
const NODE_MESSAGES = ["heartbeat", "copy", "graph", "graphTaken"] as const;

export const nodeMessage: Codec<NodeMessage> = (wire, value) => {
  const type = wire.choice(NODE_MESSAGES, "message between nodes", value?.type);
  if (type === "heartbeat") {
    const sent = value?.type === type ? value : undefined;
    const read = heartbeat(wire, sent?.heartbeat);
    const memory = wire.trailing(sent?.memory, shortMemory);
    return value ?? { type, heartbeat: read, ...(memory !== undefined && { memory }) };
  }
  if (type === "graph") {
    const read = graph(wire, value?.type === type ? value : undefined);
    return value ?? { type, ...read };
  }
  if (type === "graphTaken") {
    const read = graphTaken(wire, value?.type === type ? value : undefined);
    return value ?? { type, ...read };
  }
  const read = copy(wire, value?.type === type ? value : undefined);
  return value ?? { type, ...read };
};
