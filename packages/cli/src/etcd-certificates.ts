import type { EtcdCertificates } from "@shoal/coordinator/etcd";
import { ShoalError } from "@shoal/model";
import type { Configuration, Logger, ResourceScope } from "@shoal/service-runtime";
import { type FollowedFiles, followFiles } from "./followed-files.js";
import { checkPair, readCertificates, readKey } from "./tls-files.js";

type EtcdFiles = Pick<Configuration, "etcdCaFile" | "etcdCertFile" | "etcdKeyFile">;

/** What `ETCD_…_FILE` hold, as far as they are given, followed. Fails with `invalid` when they cannot be used at the start. */
export function followEtcdCertificates(
  files: EtcdFiles,
  logger: Logger,
  scope: ResourceScope,
  lookMs?: number,
): Promise<FollowedFiles<EtcdCertificates>> {
  const { etcdCaFile, etcdCertFile, etcdKeyFile } = files;
  const paths = [etcdCaFile, etcdCertFile, etcdKeyFile].filter((path) => path !== undefined);
  return followFiles({ paths, read: () => readGiven(files), logger, lookMs }, scope);
}

async function readGiven({ etcdCaFile, etcdCertFile, etcdKeyFile }: EtcdFiles): Promise<EtcdCertificates> {
  const ca = etcdCaFile === undefined ? undefined : await readCertificates("ETCD_CA_FILE", etcdCaFile);
  if (etcdCertFile === undefined && etcdKeyFile === undefined) return { ca };
  if (etcdCertFile === undefined || etcdKeyFile === undefined) {
    throw new ShoalError("invalid", "ETCD_CERT_FILE and ETCD_KEY_FILE belong together: one of them is not set");
  }
  const cert = await readCertificates("ETCD_CERT_FILE", etcdCertFile);
  const key = await readKey("ETCD_KEY_FILE", etcdKeyFile);
  checkPair(cert, etcdCertFile, key, etcdKeyFile);
  return { ca, cert, key };
}
