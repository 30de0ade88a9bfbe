// npm test: installs, builds and runs every test that needs no other software. Last line: `N passed, N failed`.
import "./node-version.mjs";

const HELP = `npm test [-- options] [pattern …]

Installs, builds and runs the tests whose path contains one of the patterns, all of them without any. The last line is
\`N passed, N failed\`.

  npm test -- packages/shard              the tests of a package
  npm test -- put-object                  the files whose path contains that
  npm test -- packages/shard -t "deletes" of these the tests whose name contains that
  npm run test:unit                       those that need no addon, disk or process of their own: a minute or so
  --help                                  prints this; all other options are vitest's, as --update and --bail 1

Environment: SHOAL_TEST_SEED=N for tests that are seeded. What a test lacks on this machine is named when it is skipped.
Longer forms: npm run nightly. Everything that CI checks: .ci/run.`;

const args = process.argv.slice(2);
if (args.includes("--help") || args.includes("-h")) console.log(HELP);
else {
  import("./set-up.mjs").then(async ({ root, setUp }) => {
    await setUp("all");
    const { runTests } = await import("./run-tests.mjs");
    process.exitCode = await runTests(
      root,
      args.flatMap((arg) => (arg === "--unit" ? ["--project", "unit"] : [arg])),
    );
  });
}
