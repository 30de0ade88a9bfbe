import { ShoalError } from "@shoal/model";
import type { Configuration } from "./configuration.js";
import { isLoopback } from "./loopback.js";

/** Where a process has its identity and those whom it trusts; read again when they change. */
export interface InternalTlsFiles {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

type TlsSettings = Pick<
  Configuration,
  "internalTls" | "internalTlsCaFile" | "internalTlsCertFile" | "internalTlsKeyFile"
>;

/**
 * The files for mutual TLS between processes; undefined: they talk in the clear. `hosts`: where this process listens and
 * whom it is told to reach, as hosts or `host:port`. Fails with `invalid` when a file is missing while TLS is on; to
 * name one of them turns it on.
 */
export function internalTlsFiles(settings: TlsSettings, hosts: readonly string[]): InternalTlsFiles | undefined {
  const { internalTls, internalTlsCaFile, internalTlsCertFile, internalTlsKeyFile } = settings;
  const outside = hosts.find((host) => !isLoopback(host.replace(/^(\[.*\]|[^:]*):\d+$/, "$1")));
  const named = [internalTlsCaFile, internalTlsCertFile, internalTlsKeyFile].some((file) => file !== undefined);
  if (internalTls === "off" || (internalTls === "auto" && outside === undefined && !named)) return undefined;
  const files = {
    INTERNAL_TLS_CA_FILE: internalTlsCaFile,
    INTERNAL_TLS_CERT_FILE: internalTlsCertFile,
    INTERNAL_TLS_KEY_FILE: internalTlsKeyFile,
  };
  const missing = Object.entries(files).flatMap(([variable, file]) => (file === undefined ? [variable] : []));
  if (internalTlsCaFile !== undefined && internalTlsCertFile !== undefined && internalTlsKeyFile !== undefined) {
    return { caFile: internalTlsCaFile, certFile: internalTlsCertFile, keyFile: internalTlsKeyFile };
  }
  const exposed = outside === undefined ? "others of them are set" : `'${outside}' can be reached from other machines`;
  const reason = internalTls === "on" ? "INTERNAL_TLS is on" : exposed;
  throw new ShoalError(
    "invalid",
    `${missing.join(", ")} must be set, because ${reason}: \`shoal cluster certs\` makes certificates; ` +
      "INTERNAL_TLS=off does without, where the network alone keeps strangers out",
  );
}
