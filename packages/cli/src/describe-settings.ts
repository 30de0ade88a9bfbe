import {
  describeDefault,
  readersOf,
  SETTING_GROUPS,
  type ServiceCommand,
  type SettingGroup,
} from "@shoal/service-runtime";
import { CONTEXTIONARY_DEFAULTS } from "./contextionary-settings.js";

const COLUMNS = 100;
const INDENT = "      ";
/** A space where no line ends. */
const UNBROKEN = "\u00a0";

/** The settings that `command` reads, by group, for `--help`: variable and key on one line, below it meaning and default. */
export function describeSettings(command: ServiceCommand): string {
  const shown = groupsOf(command);
  const width = Math.max(...shown.flatMap(({ settings }) => settings.map(({ variable }) => variable.length)));
  const heading = [
    "Settings, each with its variable and its key in a file (a.b is b below a). An option wins over a variable,",
    "a variable over the file; empty counts as not set. A bad value or an unknown key ends the start.",
  ].join(" ");
  const groups = shown.map(({ title, settings }) =>
    [
      `${title}:`,
      ...settings.flatMap((setting) => [
        `  ${setting.variable.padEnd(width)}  ${setting.key}`,
        ...wrap(`${setting.meaning} Default:${UNBROKEN}${describeDefault(setting)}.`, COLUMNS - INDENT.length).map(
          (line) => `${INDENT}${line}`,
        ),
      ]),
    ].join("\n"),
  );
  return [wrap(heading, COLUMNS).join("\n"), ...groups].join("\n\n");
}

function groupsOf(command: ServiceCommand): readonly SettingGroup[] {
  return SETTING_GROUPS.map(({ title, settings }) => ({
    title,
    settings: settings
      .filter((setting) => readersOf(setting).includes(command))
      .map((setting) => {
        const fallbackText = command === "contextionary" ? CONTEXTIONARY_DEFAULTS.get(setting.variable) : undefined;
        return fallbackText === undefined ? setting : { ...setting, fallbackText };
      }),
  })).filter(({ settings }) => settings.length > 0);
}

/** Lines of at most `columns`, broken at spaces; a longer word has a line of its own. */
function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].map((one) => one.replaceAll(UNBROKEN, " "));
}
