import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EtcdDoors, HAS_ETCD, type Pass } from "../../etcd-doors.js";
import { freePorts } from "../../src/cluster/free-ports.js";
import type { KubernetesObject } from "./kubernetes-object.js";
import { HELMS, renderChart } from "./render-chart.js";

const [, helm = ""] = HELMS;
const DAY_MS = 86_400_000;
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
  ...Object.fromEntries(
    [0, 1, 2].map((at) => {
      const pod = `rel-shoal-storage-node-${at}`;
      return [`storage-node-${at}`, [pod, `${pod}.rel-shoal-storage-node.search.svc`]];
    }),
  ),
  etcd: [...ETCD, "rel-shoal-etcd-0.rel-shoal-etcd.search.svc"],
};

describe.each(HELMS)("certificates that %s makes", (one) => {
  const objects = renderChart(one, "default");
  const secrets = new Map(
    objects.filter((object) => object.kind === "Secret").map((object) => [object.metadata.name, object]),
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
    // S7: not for ten years.
    expect((Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)) / DAY_MS).toBeCloseTo(90, 0);
  });

  it("are the only ones: the authority signs nothing else, and its key is in no pod", () => {
    expect([...secrets.keys()].sort()).toEqual([
      "rel-shoal-ca",
      "rel-shoal-coordinator-tls",
      "rel-shoal-etcd-tls",
      "rel-shoal-gateway-tls",
      ...[0, 1, 2].map((at) => `rel-shoal-storage-node-${at}-tls`),
    ]);
    expect(authority.ca).toBe(true);
    const pods = objects.filter((object) => object.spec?.template !== undefined);
    expect(JSON.stringify(pods)).not.toContain('"secretName":"rel-shoal-ca"');
  });

  it("S7: are each pod's own: the container with the data mounts no other one", () => {
    const nodes = objects.find(({ kind, metadata }) => kind === "StatefulSet" && metadata.name.endsWith("-node"));
    const pod = nodes?.spec?.template?.spec;
    const mounts = pod?.containers.find(({ name }) => name === "storage-node")?.volumeMounts?.map(({ name }) => name);
    expect(mounts).toEqual(["data", "tls"]);
    expect(pod?.volumes).toContainEqual(expect.objectContaining({ name: "tls", emptyDir: expect.anything() }));
    expect(pod?.containers.map(({ name }) => name)).toEqual(["storage-node", "certificates"]);
    // A node more does not change the pods that are there.
    const more = renderChart(one, "default", "--set", "storageNode.replicas=9");
    expect(
      more.find(({ kind, metadata }) => kind === "StatefulSet" && metadata.name === nodes?.metadata.name)?.spec
        ?.template,
    ).toEqual(nodes?.spec?.template);
    expect(more.filter(({ metadata }) => metadata.name.endsWith("-tls")).length).toBe(9 + 3);
  });

  it("S7: are renewed by a job that alone has the authority's key, and may change these Secrets alone", () => {
    const withKey = objects.filter((object) =>
      JSON.stringify(object.spec ?? {}).includes('"secretName":"rel-shoal-ca"'),
    );
    expect(withKey.map(({ kind }) => kind)).toEqual(["CronJob"]);
    const role = objects.find(({ kind }) => kind === "Role") as unknown as { readonly rules: readonly object[] };
    const names = [...secrets.keys()].filter((name) => name.endsWith("-tls")).sort();
    expect(role.rules).toHaveLength(1);
    expect(role.rules).toMatchObject([{ resources: ["secrets"], verbs: ["get", "patch"] }]);
    expect([...(role.rules[0] as { resourceNames: string[] }).resourceNames].sort()).toEqual(names);
  });
});

it("cert-manager is asked for the same names", () => {
  const asked = renderChart(helm, "production").filter((object) => object.kind === "Certificate");
  const generated = renderChart(helm, "production", "--set", "internalTls.source=generated");
  const secrets = generated.filter(({ kind, metadata }) => kind === "Secret" && metadata.name.endsWith("-tls"));
  expect(asked.length).toBe(secrets.length + 1);
  for (const secret of secrets) {
    const request = asked.find((object) => object.spec?.secretName === secret.metadata.name);
    expect(request?.spec?.dnsNames).toEqual(namesIn(new X509Certificate(member(secret, "tls.crt"))));
  }
});

it("S7: the CSI driver of cert-manager makes those of the storage nodes, where it is chosen", () => {
  const objects = renderChart(helm, "default", "--set", "internalTls.source=cert-manager-csi");
  const asked = objects.filter(({ kind }) => kind === "Certificate").map(({ metadata }) => metadata.name);
  expect(asked.sort()).toEqual(["rel-shoal-ca", "rel-shoal-coordinator", "rel-shoal-etcd", "rel-shoal-gateway"]);
  const nodes = objects.find(({ kind, metadata }) => kind === "StatefulSet" && metadata.name.endsWith("-node"));
  const volume = nodes?.spec?.template?.spec.volumes?.find(({ name }) => name === "tls") as unknown as {
    readonly csi: { readonly driver: string; readonly volumeAttributes: Readonly<Record<string, string>> };
  };
  expect(volume.csi.driver).toBe("csi.cert-manager.io");
  expect(volume.csi.volumeAttributes["csi.cert-manager.io/issuer-name"]).toBe("rel-shoal-ca");
  expect(volume.csi.volumeAttributes["csi.cert-manager.io/dns-names"]).toMatch(/^\$\{POD_NAME\},/);
  expect(nodes?.spec?.template?.spec.containers).toHaveLength(1);
});

it.skipIf(!HAS_ETCD)("S6: let nobody into etcd but coordinators, and its members as members (needs etcd)", async () => {
  const objects = renderChart(helm, "default");
  const passOf = (role: string): Pass => {
    const secret = objects.find(({ kind, metadata }) => kind === "Secret" && metadata.name === `rel-shoal-${role}-tls`);
    const [ca, cert, key] = ["ca.crt", "tls.crt", "tls.key"].map((name) => Buffer.from(member(secret, name)));
    return { ca, cert, key } as Pass;
  };
  const set = objects.find(({ kind, metadata }) => kind === "StatefulSet" && metadata.name === "rel-shoal-etcd");
  const args = set?.spec?.template?.spec.containers[0]?.args ?? [];
  const folder = mkdtempSync(join(tmpdir(), "shoal-chart-etcd-"));
  try {
    const { ca, cert, key } = passOf("etcd");
    for (const [name, bytes] of Object.entries({ "ca.crt": ca, "tls.crt": cert, "tls.key": key })) {
      writeFileSync(join(folder, name), bytes);
    }
    const random = (below: number) => Math.floor(Math.random() * below);
    const [client = 0, peer = 0] = await freePorts(2, random);
    // What the pod has of the cluster's network is on this machine here, and there is one member.
    const places = /^--(?:name|data-dir|listen-.*|.*advertise-.*|initial-.*)=/;
    const flags = [
      ...args.filter((one) => !places.test(one)).map((one) => one.replace("/etc/shoal/tls", folder)),
      ...["client", "peer"].map((one) => `--listen-${one}-urls=https://127.0.0.1:${one === "peer" ? peer : client}`),
      `--advertise-client-urls=https://127.0.0.1:${client}`,
      `--initial-advertise-peer-urls=https://127.0.0.1:${peer}`,
      `--initial-cluster=only=https://127.0.0.1:${peer}`,
      "--name=only",
      `--data-dir=${join(folder, "data")}`,
    ];
    await using doors = await EtcdDoors.start(flags, { client, peer });
    await expect.poll(() => doors.whatMay(passOf("coordinator"))).toMatchObject({ read: true, write: true });
    const none = { read: false, write: false, peer: false };
    expect(await doors.whatMay(passOf("coordinator"))).toEqual({ ...none, read: true, write: true });
    expect(await doors.whatMay(passOf("etcd"))).toEqual({ ...none, peer: true });
    for (const role of ["gateway", "storage-node-0"]) expect(await doors.whatMay(passOf(role)), role).toEqual(none);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
