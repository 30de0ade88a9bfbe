import { setTimeout as sleep } from "node:timers/promises";
import { ShoalError } from "@shoal/model";
import type { NodeRecord, NodeService } from "@shoal/rpc";
import type { Clock, Logger } from "@shoal/service-runtime";

const REGISTER_MS_MAX = 5_000;
const PAUSE_MS = 500;
const DOUBT_MS = 2_000;

export interface Registration extends Disposable {
  /** Why this node does not stand in the coordinator's list as it is; "" when it does. */
  readonly fault: string;
}

/**
 * Enters a storage node into the coordinator's list, as often as it takes, and again when it is missing there: a
 * coordinator's store may be put back. Where another process has taken its name it complains and leaves it at that.
 */
export function keepRegistered(
  nodes: Pick<NodeService, "register" | "watchNodes">,
  record: NodeRecord,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Registration {
  const stopped = new AbortController();
  let fault = "it has not registered with a coordinator yet";
  let isRegistering = false;
  /** A coordinator's list has it as it is. That is enough while none can write, as when etcd is gone. */
  let isListed = false;
  let isTold = false;
  const register = async (): Promise<void> => {
    if (isRegistering) return;
    isRegistering = true;
    while (!stopped.signal.aborted && !isListed) {
      try {
        await nodes.register(record, { deadline: clock.now() + REGISTER_MS_MAX, signal: stopped.signal });
        fault = "";
        logger.info({ node: record.name, address: record.address }, "registered");
        break;
      } catch (thrown) {
        if (isListed) break;
        const error = ShoalError.from(thrown);
        fault = `it could not register with a coordinator: ${error.message}`;
        if (!isTold && !stopped.signal.aborted) logger.warn({ error }, "could not register yet");
        isTold = true;
        await sleep(PAUSE_MS, undefined, { ref: false });
      }
    }
    isRegistering = false;
  };
  void register();
  let listed: NodeRecord | undefined;
  let doubt: NodeJS.Timeout | undefined;
  const complain = (): void => {
    doubt = undefined;
    if (listed === undefined || listed.address === record.address) return;
    fault = `another process has registered as '${record.name}', at ${listed.address}`;
    logger.error({ node: record.name, address: listed.address }, "another process has registered as this node");
  };
  const subscription = nodes.watchNodes((directory) => {
    listed = directory.nodes.find(({ name }) => name === record.name);
    isListed = listed !== undefined && isSame(listed, record);
    if (isListed) fault = "";
    if (isListed || isRegistering) return;
    if (listed === undefined) void register();
    else if (listed.address === record.address) fault = "";
    // A list may be older than the registration.
    else doubt ??= setTimeout(complain, DOUBT_MS).unref();
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
