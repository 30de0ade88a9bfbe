import { Client, status } from "@grpc/grpc-js";
import type { NodePresence } from "../node-service.js";
import { channelOptions, clientCredentials } from "../tls/credentials.js";
import type { TlsSource } from "../tls/tls-source.js";
import { IDENTITY } from "../wire/services.js";

/** Who did not answer by then is not there. */
const RESPONSE_MS_MAX = 2_000;

/**
 * Who is at `address`, for a coordinator: undefined when nobody answers as node `name`. Empty members: a process that does not
 * say who it is, as those of earlier versions.
 */
export function findNodeAt(
  name: string,
  address: string,
  { now, tls }: { readonly now: () => number; readonly tls?: TlsSource | undefined },
): Promise<NodePresence | undefined> {
  const client = new Client(address, clientCredentials(tls, name), channelOptions(name));
  const { path, requestSerialize, responseDeserialize } = IDENTITY.Identify;
  return new Promise<NodePresence | undefined>((resolve) => {
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      { name },
      { deadline: now() + RESPONSE_MS_MAX },
      (error, response) => {
        if (error === null && response !== undefined)
          resolve({ identity: response.identity, process: response.process });
        else resolve(error?.code === status.UNIMPLEMENTED ? { identity: "", process: "" } : undefined);
      },
    );
  }).finally(() => client.close());
}
