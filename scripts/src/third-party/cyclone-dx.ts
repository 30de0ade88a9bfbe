import type { ThirdPartyPackage } from "./production-packages.js";

export interface BillOfMaterials {
  readonly shoalVersion: string;
  /** Random, in the form of a uuid. */
  readonly serial: string;
  readonly nowMs: number;
}

/** SPDX identifiers are one word; what is joined by OR and AND is an expression. */
function licenseOf(license: string): object {
  return /^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license };
}

/** What runs in production, as CycloneDX 1.5 in JSON. */
export function cycloneDx(packages: readonly ThirdPartyPackage[], about: BillOfMaterials): object {
  const { shoalVersion, serial, nowMs } = about;
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    serialNumber: `urn:uuid:${serial}`,
    version: 1,
    metadata: {
      timestamp: new Date(nowMs).toISOString(),
      component: { type: "application", "bom-ref": "shoal", name: "shoal", version: shoalVersion },
    },
    components: packages.map(({ name, version, license, integrity, homepage }) => {
      const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
      const [, algorithm = "", digest = ""] = /^(sha\d+)-(.+)$/.exec(integrity) ?? [];
      const content = Buffer.from(digest, "base64").toString("hex");
      return {
        type: "library",
        "bom-ref": purl,
        name,
        version,
        purl,
        licenses: [licenseOf(license)],
        ...(content !== "" && { hashes: [{ alg: algorithm.replace("sha", "SHA-").toUpperCase(), content }] }),
        ...(homepage !== undefined && { externalReferences: [{ type: "website", url: homepage }] }),
      };
    }),
    dependencies: [
      {
        ref: "shoal",
        dependsOn: packages.map(({ name, version }) => `pkg:npm/${name.replace("@", "%40")}@${version}`),
      },
    ],
  };
}
