import { setTimeout as sleep } from "node:timers/promises";
import { ShoalError } from "@shoal/model";
import { messageInFull, type NodeClaim, type NodeRecord, type NodeService } from "@shoal/rpc";
import type { Clock, Configuration, Logger } from "@shoal/service-runtime";

const REGISTER_MS_MAX = 5_000;
const PAUSE_MS = 500;
/** Whoever has the name is alive, or the data folder is not the one that has it: that takes people. */
const REFUSED_PAUSE_MS = 5_000;
const DOUBT_MS = 2_000;

export interface Registration extends Disposable {
  /** Why this node does not stand in the coordinator's list as it is; "" when it does. */
  readonly fault: string;
}

/**
 * Enters a storage node into the coordinator's list, as often as it takes, and again when it is missing there: a
 * coordinator's store may be put back. Where another address stands in the list it claims its name: the coordinator knows
 * whose it is.
 */
export function keepRegistered(
  nodes: Pick<NodeService, "register" | "watch">,
  record: NodeRecord,
  claim: NodeClaim,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Registration {
  const stopped = new AbortController();
  let fault = "it has not registered with a coordinator yet";
  let isRegistering = false;
  /** A coordinator's list has it as it is. That is enough while none can write, as when etcd is gone. */
  let isListed = false;
  let isReported = false;
  const register = async (): Promise<void> => {
    if (isRegistering) return;
    isRegistering = true;
    while (!stopped.signal.aborted && !isListed) {
      try {
        const context = { deadline: clock.now() + REGISTER_MS_MAX, signal: stopped.signal };
        await nodes.register(record, context, claim);
        fault = "";
        logger.info({ node: record.name, address: record.address }, "registered");
        break;
      } catch (thrown) {
        if (isListed) break;
        const error = ShoalError.from(thrown);
        fault = `it could not register with a coordinator: ${messageInFull(error)}`;
        const isRefused = error.code === "conflict";
        if (!isReported && !stopped.signal.aborted) {
          logger[isRefused ? "error" : "warn"]({ error }, "could not register yet");
        }
        isReported = true;
        await sleep(isRefused ? REFUSED_PAUSE_MS : PAUSE_MS, undefined, { ref: false });
      }
    }
    isRegistering = false;
  };
  void register();
  let listed: NodeRecord | undefined;
  let doubt: NodeJS.Timeout | undefined;
  const claimName = (): void => {
    doubt = undefined;
    if (listed === undefined || listed.address === record.address) return;
    fault = `another process has registered as '${record.name}', at ${listed.address}`;
    logger.error({ node: record.name, address: listed.address }, "another process has registered as this node");
    void register();
  };
  const subscription = nodes.watch((directory) => {
    listed = directory.nodes.find(({ name }) => name === record.name);
    isListed = listed !== undefined && isSame(listed, record);
    if (isListed) fault = "";
    if (isListed || isRegistering) return;
    if (listed === undefined) void register();
    else if (listed.address === record.address) fault = "";
    // A list may be older than the registration.
    else doubt ??= setTimeout(claimName, DOUBT_MS).unref();
  });
  return {
    get fault() {
      return fault;
    },
    [Symbol.dispose]() {
      stopped.abort();
      clearTimeout(doubt);
      subscription[Symbol.dispose]();
    },
  };
}

function isSame(a: NodeRecord, b: NodeRecord): boolean {
  return a.address === b.address && a.shoalVersion === b.shoalVersion && a.gitHash === b.gitHash;
}

const EVERY_ADDRESS: readonly string[] = ["0.0.0.0", "::"];

/** `host:port` under which the others reach this storage node: as configured, or what it listens on. */
export function advertisedAddress(
  { internalAdvertisedAddress, internalHost }: Pick<Configuration, "internalAdvertisedAddress" | "internalHost">,
  port: number,
  machineName: string,
): string {
  if (internalAdvertisedAddress !== undefined) return internalAdvertisedAddress;
  const host = EVERY_ADDRESS.includes(internalHost) ? machineName : internalHost;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
