import { bool, bytes, field, message, optional, repeated, string, uint32, uint64 } from "./protobuf.js";
import { service, unary, watch } from "./service-definition.js";

/* The services of the coordinator, and what identifies a storage node to it. `golden/fields.txt` holds all calls and fields. */

/** A schema that somebody knows: of which history, and which version of it. Empty: none. */
const SCHEMA_POSITION = message("SchemaPosition", { historyId: field(1, string), version: field(2, uint64) });

/** A history that another one goes on from, with its last version that is part of that. */
const FORMER_HISTORY = message("FormerHistory", { historyId: field(1, string), upTo: field(2, uint64) });

/** A class that is out of the schema, and the storage nodes that have not confirmed it. */
const CLASS_DROP = message("ClassDrop", {
  classId: field(1, string),
  className: field(2, string),
  holders: repeated(3, string),
});

/**
 * How to come to `position` from the schema that the stream delivered before; or, when `whole`, from nothing. Classes
 * that are gone are taken out, then each record takes the place of the one with its class id or comes last.
 */
export const SCHEMA_UPDATE = message("SchemaUpdate", {
  position: field(1, SCHEMA_POSITION),
  whole: field(2, bool),
  removedClassIds: repeated(3, string),
  /** UTF-8 JSON, as definitions, properties and snapshots below. */
  recordsJson: repeated(4, bytes),
  /** Of a whole schema, or when the history is another one than before: what it goes on from. */
  former: repeated(5, FORMER_HISTORY),
  clusterId: field(6, string),
  /** All that are pending. */
  drops: repeated(7, CLASS_DROP),
});

export const CLASS_REQUEST = message("ClassRequest", {
  definitionJson: field(1, bytes),
  /** The same however often the change is sent; empty: it is sent once. So in all requests. */
  changeId: field(2, string),
  /** The schema that the caller has decided on; 0: it does not matter. */
  plannedVersion: field(3, uint64),
  /** Storage nodes that the caller does not reach: no shards are placed there while there are others. */
  lostNodes: repeated(20, string),
});

const UPDATE_CLASS_REQUEST = message("UpdateClassRequest", {
  definitionJson: field(1, bytes),
  expectedVersion: field(2, uint64),
});

const PROPERTY_REQUEST = message("PropertyRequest", {
  className: field(1, string),
  propertyJson: field(2, bytes),
  changeId: field(3, string),
});

const PROPERTIES_REQUEST = message("PropertiesRequest", {
  className: field(1, string),
  classId: field(2, string),
  propertiesJson: field(3, bytes),
  changeId: field(4, string),
});

const DELETE_CLASS_REQUEST = message("DeleteClassRequest", {
  className: field(1, string),
  /** Of the class that is meant; empty: the caller knows of none. */
  classId: field(2, string),
  changeId: field(3, string),
});

/** Every response to a change tells the schema that holds it. */
export const RECORD_RESPONSE = message("RecordAnswer", {
  position: field(1, SCHEMA_POSITION),
  recordJson: field(2, bytes),
  /**
   * Of EnsureClass and EnsureProperties: whether this change has made the class, or added something. Absent: whoever answers
   * does not say what the change has done.
   */
  isMade: optional(3, bool),
  /** Of EnsureProperties: the names of those that this change has added. */
  added: repeated(4, string),
});

const DELETE_CLASS_RESPONSE = message("DeleteClassAnswer", { position: field(1, SCHEMA_POSITION) });
const SETTLE_REQUEST = message("SettleRequest", { changeId: field(1, string) });
const RESTORE_REQUEST = message("RestoreRequest", { snapshotJson: field(1, bytes) });

const FIX_DIMENSIONS_REQUEST = message("FixDimensionsRequest", {
  className: field(1, string),
  classId: field(2, string),
  dimensions: field(3, uint32),
});

const FIX_DIMENSIONS_RESPONSE = message("FixDimensionsAnswer", {
  position: field(1, SCHEMA_POSITION),
  dimensions: field(2, uint32),
});

/** The coordinator: the one writer of the schema. */
export const SCHEMA = service("Schema", {
  Current: unary(SCHEMA_POSITION, SCHEMA_UPDATE, { isRepeatable: true, isForAll: true }),
  /** First what the caller lacks to the whole schema, then every change, in order. */
  Watch: watch(SCHEMA_POSITION, SCHEMA_UPDATE, { isForAll: true }),
  AddClass: unary(CLASS_REQUEST, RECORD_RESPONSE, { isSlow: true }),
  UpdateClass: unary(UPDATE_CLASS_REQUEST, RECORD_RESPONSE),
  AddProperty: unary(PROPERTY_REQUEST, RECORD_RESPONSE, { isSlow: true }),
  EnsureClass: unary(CLASS_REQUEST, RECORD_RESPONSE, { isRepeatable: true, isSlow: true }),
  EnsureProperties: unary(PROPERTIES_REQUEST, RECORD_RESPONSE, { isRepeatable: true }),
  DeleteClass: unary(DELETE_CLASS_REQUEST, DELETE_CLASS_RESPONSE, { isSlow: true }),
  FixDimensions: unary(FIX_DIMENSIONS_REQUEST, FIX_DIMENSIONS_RESPONSE, { isRepeatable: true }),
  /** The caller has the response of a change. */
  Settle: unary(SETTLE_REQUEST, SCHEMA_POSITION, { isRepeatable: true }),
  /** Puts a schema that processes of a cluster still know into an empty store. */
  Restore: unary(RESTORE_REQUEST, SCHEMA_POSITION, { isSlow: true }),
});

const NODE_RECORD = message("NodeRecord", {
  name: field(1, string),
  /** `host:port` of its streams; empty in a process that is everything. */
  address: field(2, string),
  shoalVersion: field(3, string),
  gitHash: field(4, string),
  /* By what a node that registers is known to be the same one; told to nobody else. */
  /** Of the data folder; empty: the node is of a version that has none. */
  secret: field(5, string),
  process: field(6, string),
  /** The operator said that the data which this name had is lost. */
  replaces: field(7, bool),
});

/** The node takes nothing more into these classes. The response is the request. */
const DROPPED_CLASSES = message("DroppedClasses", { nodeName: field(1, string), classIds: repeated(2, string) });
const REMOVE_NODE_REQUEST = message("RemoveNodeRequest", { name: field(1, string) });
/** `caller`: what log lines of the coordinator name it by. */
const WATCH_NODES_REQUEST = message("WatchNodesRequest", { caller: field(1, string) });

const NODE_DIRECTORY = message("NodeDirectory", {
  version: field(1, uint64),
  expectedStorageNodes: field(2, uint32),
  nodes: repeated(3, NODE_RECORD),
});

/** The coordinator's list of storage nodes. */
export const NODES = service("Nodes", {
  /** The caller proves by its certificate to be the node. The response is the record as it was entered. */
  Register: unary(NODE_RECORD, NODE_RECORD, { isRepeatable: true, isForAll: true }),
  /** The caller proves by its certificate to be the node. */
  ConfirmDropped: unary(DROPPED_CLASSES, DROPPED_CLASSES, { isRepeatable: true, isForAll: true }),
  /** Refused while a shard is placed on the node. The response is the record as it stood. */
  Remove: unary(REMOVE_NODE_REQUEST, NODE_RECORD),
  /** The directory as it is known, and then every later one. */
  Watch: watch(WATCH_NODES_REQUEST, NODE_DIRECTORY, { isForAll: true }),
});

/** `name`: of the node that is looked for. */
const IDENTIFY_REQUEST = message("IdentifyRequest", { name: field(1, string) });

const NODE_PRESENCE = message("NodePresence", {
  /** SHA-256 of the secret in the data folder. */
  identity: field(1, string),
  /** Drawn at the start of the process. */
  process: field(2, string),
});

/** A storage node, asked by coordinators who it is: whether the holder of a name is alive. */
export const IDENTITY = service("Identity", { Identify: unary(IDENTIFY_REQUEST, NODE_PRESENCE) });

/** A job or a report, UTF-8 JSON, as claims and answers. */
const JOB_REQUEST = message("JobRequest", { json: field(1, bytes) });
const FIND_JOB_REQUEST = message("FindJobRequest", { id: field(1, string) });
const CLAIM_REQUEST = message("ClaimRequest", { worker: field(1, string) });
const ABORT_JOB_REQUEST = message("AbortJobRequest", { claimJson: field(1, bytes), error: field(2, string) });
/** Empty: there is none. */
export const JOB_RESPONSE = message("JobAnswer", { json: field(1, bytes) });
/** `caller`: what log lines of the coordinator name it by. */
const WATCH_JOBS_REQUEST = message("WatchJobsRequest", { caller: field(1, string) });
const JOBS_NOTICE = message("JobsNotice", { openRanges: field(1, uint64), version: field(2, uint64) });

/** The coordinator's jobs. */
export const JOBS = service("Jobs", {
  Create: unary(JOB_REQUEST, JOB_RESPONSE, { isRepeatable: true }),
  Find: unary(FIND_JOB_REQUEST, JOB_RESPONSE, { isRepeatable: true }),
  Claim: unary(CLAIM_REQUEST, JOB_RESPONSE, { isRepeatable: true }),
  Report: unary(JOB_REQUEST, JOB_RESPONSE),
  Abort: unary(ABORT_JOB_REQUEST, JOB_RESPONSE),
  /** What is known, and then every later state. */
  Watch: watch(WATCH_JOBS_REQUEST, JOBS_NOTICE),
});

/** Extensions that somebody knows: of which history, and which version of it. Empty: none. */
const EXTENSIONS_POSITION = message("ExtensionsPosition", { historyId: field(1, string), version: field(2, uint64) });
/** The value is UTF-8 JSON. */
const EXTENSION = message("Extension", { key: field(1, string), valueJson: field(2, bytes) });
const PUT_EXTENSION_REQUEST = message("PutExtensionRequest", { extension: field(1, EXTENSION) });

/** How to come to `position` from what the stream delivered before; or, when `whole`, from nothing. */
export const EXTENSIONS_UPDATE = message("ExtensionsUpdate", {
  position: field(1, EXTENSIONS_POSITION),
  whole: field(2, bool),
  changed: repeated(3, EXTENSION),
});

/** What modules keep for all processes: small JSON values by key. */
export const EXTENSIONS = service("Extensions", {
  /** Answered with what holds the value. */
  Put: unary(PUT_EXTENSION_REQUEST, EXTENSIONS_POSITION, { isRepeatable: true }),
  /** All of them, or only "that one" when the caller knows the latest. */
  List: unary(EXTENSIONS_POSITION, EXTENSIONS_UPDATE, { isRepeatable: true }),
  /** All of them once, and then what changes. */
  Watch: watch(EXTENSIONS_POSITION, EXTENSIONS_UPDATE),
});

/** The state that somebody knows: of which history, and which version of it. Empty: none. */
const ACCESS_POSITION = message("AccessPosition", { historyId: field(1, string), version: field(2, uint64) });
/** The value is UTF-8 JSON. */
const ACCESS_ENTRY = message("AccessEntry", { key: field(1, string), valueJson: field(2, bytes) });

const CHANGE_ACCESS_REQUEST = message("ChangeAccessRequest", {
  /** The state that the changes were decided on. */
  expected: field(1, ACCESS_POSITION),
  put: repeated(2, ACCESS_ENTRY),
  removed: repeated(3, string),
  /** The version that the change makes is later than this one: that of a state that is brought back into an empty store. */
  goesOnFrom: field(4, uint64),
});

/** How to come to `position` from what the stream delivered before; or, when `whole`, from nothing. */
const ACCESS_UPDATE = message("AccessUpdate", {
  position: field(1, ACCESS_POSITION),
  whole: field(2, bool),
  put: repeated(3, ACCESS_ENTRY),
  removed: repeated(4, string),
});

/** Roles, who has them, and users made at run time: small JSON values by key, which gateways give their meaning. */
export const ACCESS = service("Access", {
  /** All of them, or only "that one" when the caller knows the latest. */
  Current: unary(ACCESS_POSITION, ACCESS_UPDATE, { isRepeatable: true }),
  /** All changes or none. Answered with what holds them. */
  Change: unary(CHANGE_ACCESS_REQUEST, ACCESS_POSITION),
  /** All of them once, and then what changes. */
  Watch: watch(ACCESS_POSITION, ACCESS_UPDATE),
});

/** The configurations that somebody knows: of which history, and which version of it. Empty: none. */
const COPIES_POSITION = message("CopiesPosition", { historyId: field(1, string), version: field(2, uint64) });
/** A shard and who holds it. The value is UTF-8 JSON. */
const COPIES_ENTRY = message("CopiesEntry", { key: field(1, string), valueJson: field(2, bytes) });

const PROPOSE_COPIES_REQUEST = message("ProposeCopiesRequest", {
  /** Who proposes; proves it by its certificate. */
  node: field(1, string),
  proposals: repeated(2, COPIES_ENTRY),
});

const COPIES_DECISION = message("CopiesDecision", {
  isAccepted: field(1, bool),
  /** What counts now. Absent: the class of the shard is gone. */
  currentJson: optional(2, bytes),
});
/** A decision for each proposal, in the same order. */
const COPIES_DECISIONS = message("CopiesDecisions", { decisions: repeated(1, COPIES_DECISION) });

const RESTORE_COPIES_REQUEST = message("RestoreCopiesRequest", { configurations: repeated(1, COPIES_ENTRY) });

/** How to come to `position` from what the stream delivered before; or, when `whole`, from nothing. */
const COPIES_UPDATE = message("CopiesUpdate", {
  position: field(1, COPIES_POSITION),
  whole: field(2, bool),
  put: repeated(3, COPIES_ENTRY),
  removed: repeated(4, string),
});

/** Who holds the shards that have copies. */
export const COPIES = service("Copies", {
  /** Each proposal by itself. One that was accepted is accepted again while it is what counts. */
  Propose: unary(PROPOSE_COPIES_REQUEST, COPIES_DECISIONS, { isRepeatable: true, isForAll: true }),
  /** What processes of a cluster still know, after its schema was restored. */
  Restore: unary(RESTORE_COPIES_REQUEST, COPIES_POSITION, { isRepeatable: true, isSlow: true }),
  /** All of them, or only "that one" when the caller knows the latest. */
  Current: unary(COPIES_POSITION, COPIES_UPDATE, { isRepeatable: true, isForAll: true }),
  /** All of them once, and then what changes. */
  Watch: watch(COPIES_POSITION, COPIES_UPDATE, { isForAll: true }),
});
