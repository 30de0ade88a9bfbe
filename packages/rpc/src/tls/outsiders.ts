/** In the certificates of what serves a cluster and is no part of it: it keeps no shards and asks nobody for anything. */
const OUTSIDERS: readonly string[] = ["contextionary", "etcd"];
const MEMBERS: readonly string[] = ["gateway", "coordinator"];

/** Whether a certificate of these names is that of an outsider, whatever hosts it names beside: one could be called like a storage node. */
export function isOutsider(names: readonly string[]): boolean {
  return names.some((name) => OUTSIDERS.includes(name)) && !isMember(names);
}

/** Whether it is that of a gateway or a coordinator. */
export function isMember(names: readonly string[]): boolean {
  return names.some((name) => MEMBERS.includes(name));
}
