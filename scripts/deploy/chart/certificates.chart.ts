import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { KubernetesObject } from "./kubernetes-object.js";
import { HELMS, renderChart } from "./render-chart.js";

const [, helm = ""] = HELMS;
const NODES = Array.from({ length: 64 }, (_, at) => `rel-shoal-storage-node-${at}`);
const ETCD = [0, 1, 2].map((at) => `rel-shoal-etcd-${at}`);

function member(secret: KubernetesObject | undefined, name: string): string {
  return Buffer.from(secret?.data?.[name] ?? "", "base64").toString();
}

/** The DNS names that a certificate speaks for. */
function namesIn({ subjectAltName = "" }: X509Certificate): readonly string[] {
  return subjectAltName.split(", ").flatMap((one) => (one.startsWith("DNS:") ? [one.slice(4)] : []));
}

/** Names that each role must be able to prove: its identity first. */
const IDENTITIES: Readonly<Record<string, readonly string[]>> = {
  gateway: ["gateway"],
  coordinator: ["coordinator", "rel-shoal-coordinator.search.svc"],
  "storage-node": [...NODES, "rel-shoal-storage-node-63.rel-shoal-storage-node.search.svc"],
  etcd: [...ETCD, "rel-shoal-etcd-0.rel-shoal-etcd.search.svc"],
};

describe.each(HELMS)("certificates that %s makes", (one) => {
  const secrets = new Map(
    renderChart(one, "default")
      .filter((object) => object.kind === "Secret")
      .map((object) => [object.metadata.name, object]),
  );
  const authority = new X509Certificate(member(secrets.get("rel-shoal-ca"), "tls.crt"));

  it.each(Object.keys(IDENTITIES))("prove the %s, are signed by the one authority, and have their key", (role) => {
    const secret = secrets.get(`rel-shoal-${role}-tls`);
    const certificate = new X509Certificate(member(secret, "tls.crt"));
    expect(secret?.type).toBe("kubernetes.io/tls");
    expect(member(secret, "ca.crt")).toBe(member(secrets.get("rel-shoal-ca"), "tls.crt"));
    expect(certificate.verify(authority.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(member(secret, "tls.key")))).toBe(true);
    for (const name of IDENTITIES[role] ?? []) expect(certificate.checkHost(name), name).toBeDefined();
    for (const [other, [identity = ""]] of Object.entries(IDENTITIES)) {
      if (other !== role) expect(certificate.checkHost(identity), identity).toBeUndefined();
    }
    // etcd asks the name server for names of its peers: there an asterisk leads nowhere.
    if (role === "etcd") expect(namesIn(certificate)).toContain("rel-shoal-etcd-2.rel-shoal-etcd.search.svc");
    // Both ends prove themselves: for servers and for clients.
    expect(certificate.keyUsage).toEqual(expect.arrayContaining(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]));
    expect(Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)).toBeGreaterThan(3_600 * 86_400_000);
  });

  it("are the only ones: the authority signs nothing else, and its key is in no pod", () => {
    expect([...secrets.keys()].sort()).toEqual([
      "rel-shoal-ca",
      "rel-shoal-coordinator-tls",
      "rel-shoal-etcd-tls",
      "rel-shoal-gateway-tls",
      "rel-shoal-storage-node-tls",
    ]);
    expect(authority.ca).toBe(true);
    const pods = renderChart(one, "default").filter((object) => object.spec?.template !== undefined);
    expect(JSON.stringify(pods)).not.toContain('"secretName":"rel-shoal-ca"');
  });
});

it("cert-manager is asked for the same names", () => {
  const asked = renderChart(helm, "production").filter((object) => object.kind === "Certificate");
  const secrets = renderChart(helm, "default").filter((object) => object.metadata.name.endsWith("-tls"));
  expect(asked.length).toBe(secrets.length + 1);
  for (const secret of secrets) {
    const request = asked.find((object) => object.spec?.secretName === secret.metadata.name);
    expect(request?.spec?.dnsNames).toEqual(namesIn(new X509Certificate(member(secret, "tls.crt"))));
  }
});
