import {
  describeDefault,
  readersOf,
  SERVICE_COMMANDS,
  SETTING_GROUPS,
  UNBUILT_VARIABLES,
} from "@shoal/service-runtime";

const HEAD = `# Configuration

<!-- Made from the settings in packages/service-runtime/src/settings; \`npx vitest run scripts/readme.test.ts --update\` updates it. -->

Each setting is an environment variable and a key in a YAML or JSON file (\`a.b\` is \`b\` below \`a\`), which
\`npm start -- --config-file shoal.yaml\` reads: [an example](examples/shoal.yaml). An option of the command line (\`--host\`,
\`--port\`) overrides a variable, a variable the file, the file the default; an empty value counts as not set. Lists
are separated by commas, or are lists in the file. No file is read unless it is named. Paths are relative to the working
folder; that of \`npm start\` is the root of the repository.

A bad value, an unknown key and a repeated key end the start with one line on stderr and exit code 1. So does a value
that asks for a feature that this version does not have, and a variable that is most probably misspelled: of eight
letters or more and one letter off (two from 16 letters on), or one that begins with \`AUTHENTICATION_\` or \`AUTHORIZATION_\`.
What is set and does nothing in a process is a warning at its start: the command does not read it ("read by"), or what it belongs to is
off. [Those of Weaviate](#variables-of-weaviate-that-do-nothing-here) that do nothing here are a warning, and
so are settings of former versions. All others count as
those of other programs, \`PORTT\` too; the log line "serving" shows address, folder and node.

\`UV_THREADPOOL_SIZE\` is a variable of Node, and 64 here where it is not set: the threads that read, write and sync files, 1 to 1024.
One disk holds at most a quarter of them for writes and a quarter for reads, so a disk that stands still holds up only its own work.
Searches, and their reads of vectors beyond \`vectorCacheMaxObjects\`, have their own threads, one per core, and spare ones that replace those that wait for a disk.
`;

/** `deploy/CONFIGURATION.md`: every setting by group. */
export function settingsPage(): string {
  const groups = SETTING_GROUPS.map(({ title, settings }) =>
    [
      `## ${title}`,
      "",
      "| variable | key | default | meaning | read by |",
      "|---|---|---|---|---|",
      ...settings.map((setting) => {
        const { variable, key, meaning, fallbackText } = setting;
        const readers = readersOf(setting);
        const readBy = readers.length === SERVICE_COMMANDS.length ? "all" : readers.join(", ");
        const standing = describeDefault(setting);
        // Values stand in backticks, words do not.
        const [value = "", ...rest] = standing.split(" (");
        const shown =
          fallbackText !== undefined || standing === "(empty)" ? standing : [`\`${value}\``, ...rest].join(" (");
        return `| \`${variable}\` | \`${key}\` | ${shown} | ${meaning} | ${readBy} |`;
      }),
      "",
    ].join("\n"),
  );
  return [HEAD, ...groups, unbuilt()].join("\n");
}

/** The variables of the reference that a start warns of. */
function unbuilt(): string {
  return [
    "## Variables of Weaviate that do nothing here",
    "",
    "A start with one of them logs a warning and continues, unless the value asks for nothing that is missing.",
    "",
    "| variable | what is not built | instead | no warning for |",
    "|---|---|---|---|",
    ...UNBUILT_VARIABLES.map(({ variable, feature, instead = "", nothing = [] }) => {
      const values = nothing.map((value) => `\`${value}\``).join(", ");
      return `| \`${variable}\` | ${feature} | ${instead} | ${values} |`;
    }),
    "",
  ].join("\n");
}
