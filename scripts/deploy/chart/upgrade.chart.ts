import { X509Certificate } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ClusterStub } from "./cluster-stub.js";
import type { KubernetesObject } from "./kubernetes-object.js";
import { HELMS, objectsOf } from "./render-chart.js";

const NODE_SECRET = "rel-shoal-storage-node-1-tls";

function secretsOf(objects: readonly KubernetesObject[]): ReadonlyMap<string, Readonly<Record<string, string>>> {
  return new Map(
    objects.filter((object) => object.kind === "Secret").map((object) => [object.metadata.name, object.data ?? {}]),
  );
}

function certificateOf(secret: Readonly<Record<string, string>> | undefined, name: string): X509Certificate {
  return new X509Certificate(Buffer.from(secret?.[name] ?? "", "base64"));
}

describe.each(HELMS)("an upgrade with %s", (helm) => {
  let cluster: ClusterStub;
  let installed: readonly KubernetesObject[];

  async function render(...settings: readonly string[]): Promise<readonly KubernetesObject[]> {
    const { text, failure } = await cluster.render(helm, ...settings.flatMap((one) => ["--set", one]));
    expect(failure).toBeUndefined();
    return objectsOf(text);
  }

  beforeEach(async () => {
    cluster = await ClusterStub.start();
    installed = await render();
    cluster.install(installed);
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  it("keeps the authority and the certificates", async () => {
    const before = secretsOf(installed);
    expect(before.size).toBe(7);
    const after = secretsOf(await render("storageNode.replicas=5"));
    expect(after.size).toBe(9);
    for (const [name, data] of before) expect(after.get(name), name).toEqual(data);
  });

  it("makes a certificate anew that was removed, of the same authority", async () => {
    cluster.remove("Secret", NODE_SECRET);
    const before = secretsOf(installed);
    const after = secretsOf(await render());
    expect(after.get("rel-shoal-ca")).toEqual(before.get("rel-shoal-ca"));
    expect(after.get("rel-shoal-gateway-tls")).toEqual(before.get("rel-shoal-gateway-tls"));
    expect(after.get(NODE_SECRET)?.["tls.key"]).not.toBe(before.get(NODE_SECRET)?.["tls.key"]);
    const authority = certificateOf(before.get("rel-shoal-ca"), "tls.crt");
    expect(certificateOf(after.get(NODE_SECRET), "tls.crt").verify(authority.publicKey)).toBe(true);
    expect(after.get(NODE_SECRET)?.["ca.crt"]).toBe(before.get("rel-shoal-ca")?.["tls.crt"]);
  });

  it("makes all of them anew when the authority is gone", async () => {
    cluster.remove("Secret", "rel-shoal-ca");
    const after = secretsOf(await render());
    const authority = certificateOf(after.get("rel-shoal-ca"), "tls.crt");
    expect(after.get("rel-shoal-ca")).not.toEqual(secretsOf(installed).get("rel-shoal-ca"));
    for (const [name, secret] of after) {
      if (name !== "rel-shoal-ca")
        expect(certificateOf(secret, "tls.crt").verify(authority.publicKey), name).toBe(true);
    }
  });

  it("does not take storage nodes away unless it is told to", async () => {
    const { failure } = await cluster.render(helm, "--set", "storageNode.replicas=2");
    expect(failure).toContain("storageNode.replicas is 2 and there are 3");
    const forced = await render("storageNode.replicas=2", "storageNode.allowScaleDown=true");
    const nodes = forced.find(
      (object) => object.kind === "StatefulSet" && object.metadata.name.endsWith("storage-node"),
    );
    expect(nodes?.spec?.replicas).toBe(2);
  });
});
