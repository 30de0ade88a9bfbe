import { ShoalError } from "@shoal/model";
import type { TlsSource } from "@shoal/rpc";
import { type Configuration, internalTlsFiles, type Logger, type ResourceScope } from "@shoal/service-runtime";
import { followTlsFiles } from "./tls-files.js";

type Settings = Pick<
  Configuration,
  "contextionaryTls" | "contextionaryUrl" | "internalTlsCaFile" | "internalTlsCertFile" | "internalTlsKeyFile"
>;

/** By what this process proves itself to a contextionary; undefined: it is asked in the clear. Fails with `invalid` without files. */
export async function contextionaryTls(
  settings: Settings,
  logger: Logger,
  scope: ResourceScope,
): Promise<TlsSource | undefined> {
  if (!settings.contextionaryTls) return undefined;
  if (settings.contextionaryUrl === undefined) {
    throw new ShoalError("invalid", "CONTEXTIONARY_TLS is on, and CONTEXTIONARY_URL names no contextionary");
  }
  // Also where the other processes are asked in the clear.
  const files = internalTlsFiles({ ...settings, internalTls: "on" }, []);
  return files && (await followTlsFiles(files, logger, scope));
}
