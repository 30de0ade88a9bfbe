import { closeName, quoteText } from "@shoal/model";
import type { Command } from "commander";

/** A word of a command line that is neither a command nor an option, and the command that it was given to. */
export interface UnknownWord {
  readonly command: Command;
  readonly message: string;
}

/**
 * The first word of a command line that names no command. Commander finds it, too, but prints the help of the command above
 * and ends with 0 when `--help` stands behind it, and says nothing about what is unknown behind `help`.
 */
export function unknownCommand(program: Command, args: readonly string[]): UnknownWord | undefined {
  let command = program;
  for (const word of args) {
    // The rest is for the command that was found; `help` is followed by commands.
    if (command.commands.length === 0 || word === "--") return undefined;
    if (word === "help") continue;
    const known = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (known !== undefined) {
      command = known;
      continue;
    }
    if (word.startsWith("-")) {
      const options = [...command.options.flatMap(({ short, long }) => [short, long]), "-h", "--help"];
      if (options.includes(word)) continue;
      return { command, message: `error: unknown option ${quoteText(word)} of '${pathOf(command)}'` };
    }
    const close = closeName(
      word,
      command.commands.map((one) => one.name()),
    );
    const advice = close === undefined ? "" : `, did you mean '${close}'?`;
    return { command, message: `error: unknown command ${quoteText(word)} of '${pathOf(command)}'${advice}` };
  }
  return undefined;
}

/** `shoal cluster` */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
