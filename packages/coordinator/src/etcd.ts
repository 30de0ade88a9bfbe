export type { EtcdCertificates, EtcdOptions } from "./etcd/etcd-client.js";
export { EtcdMetaStore, type EtcdMetaStoreOptions } from "./etcd/etcd-meta-store.js";
