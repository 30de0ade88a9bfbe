import type { ThirdPartyPackage } from "./production-packages.js";

/** What is compiled into the addon, or lies beside the packages in an image. */
const BESIDE: readonly string[] = [
  "xxHash, compiled into the addon: BSD-2-Clause",
  "    Copyright (c) 2012-2021 Yann Collet",
  "RocksDB and LevelDB, compiled into the package rocksdb: Apache-2.0, BSD-3-Clause",
  "    Copyright (c) 2011-present, Facebook, Inc.; Copyright (c) 2011 The LevelDB Authors",
  "Node.js, in the images: MIT, and what its own LICENSE lists",
  "    Copyright Node.js contributors",
];

/** The file NOTICE: whose software the images hold, and under which licences. */
export function noticeText(packages: readonly ThirdPartyPackage[]): string {
  const lines = packages.flatMap(({ name, version, license, copyright }) => [
    `${name} ${version}: ${license}`,
    ...copyright.map((line) => `    ${line}`),
  ]);
  return [
    "Shoal",
    "Licensed under the Apache License, Version 2.0; see LICENSE.",
    "",
    "It runs with the software of others that is listed here. The text of each licence is in the package's own folder",
    "(node_modules), which the images have, too. Made by: node scripts/run.mjs third-party notice",
    "",
    ...BESIDE,
    ...lines,
    "",
  ].join("\n");
}
