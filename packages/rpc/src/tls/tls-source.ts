/** What a process proves by who it is, and by whom it takes others for; all PEM. */
export interface TlsMaterial {
  /** The authorities that all processes of the cluster are certified by. */
  readonly ca: Buffer;
  readonly certificate: Buffer;
  readonly key: Buffer;
}

/** Mutual TLS between the processes of a cluster. New connections use what is current; those that stand stay. */
export interface TlsSource {
  current(): TlsMaterial;
  /** Calls `listener` with every later material. */
  onChange(listener: (material: TlsMaterial) => void): Disposable;
}
