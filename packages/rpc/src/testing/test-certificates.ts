import "reflect-metadata";
import { webcrypto } from "node:crypto";
import {
  BasicConstraintsExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import type { TlsMaterial, TlsSource } from "../tls/tls-source.js";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const HOUR_MS = 3_600_000;

/** An authority for tests. */
export class TestAuthority {
  readonly #keys: webcrypto.CryptoKeyPair;
  readonly #name: string;
  readonly ca: Buffer;

  private constructor(keys: webcrypto.CryptoKeyPair, name: string, ca: Buffer) {
    this.#keys = keys;
    this.#name = name;
    this.ca = ca;
  }

  static async make(name: string): Promise<TestAuthority> {
    const keys = await newKeys();
    const options = { name: `CN=${name}`, ...validFor(0), signingAlgorithm: ALGORITHM, keys };
    const extensions = [new BasicConstraintsExtension(true, 0, true)];
    const certificate = await X509CertificateGenerator.createSelfSigned({ ...options, extensions }, webcrypto);
    return new TestAuthority(keys, `CN=${name}`, Buffer.from(certificate.toString("pem")));
  }

  /** A certificate for these DNS names; one that has expired `hoursAgo`. */
  async sign(names: readonly string[], expiredHoursAgo = 0): Promise<TlsMaterial> {
    const keys = await newKeys();
    const certificate = await X509CertificateGenerator.create(
      {
        subject: "CN=a test",
        issuer: this.#name,
        ...validFor(expiredHoursAgo),
        publicKey: keys.publicKey,
        signingKey: this.#keys.privateKey,
        signingAlgorithm: ALGORITHM,
        extensions: [new SubjectAlternativeNameExtension(names.map((value) => ({ type: "dns" as const, value })))],
      },
      webcrypto,
    );
    const key = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
    return {
      ca: this.ca,
      certificate: Buffer.from(certificate.toString("pem")),
      key: Buffer.from(PemConverter.encode(key, PemConverter.PrivateKeyTag)),
    };
  }
}

/** A source whose material can be swapped. */
export class SwappedTls implements TlsSource {
  readonly #listeners = new Set<(material: TlsMaterial) => void>();
  #material: TlsMaterial;

  constructor(material: TlsMaterial) {
    this.#material = material;
  }

  current(): TlsMaterial {
    return this.#material;
  }

  onChange(listener: (material: TlsMaterial) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  swap(material: TlsMaterial): void {
    this.#material = material;
    for (const listener of this.#listeners) listener(material);
  }
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

function validFor(expiredHoursAgo: number): { notBefore: Date; notAfter: Date } {
  const end = Date.now() + (expiredHoursAgo > 0 ? -expiredHoursAgo : 1) * HOUR_MS;
  return { notBefore: new Date(end - 2 * HOUR_MS), notAfter: new Date(end) };
}
