import { closeSync, openSync, readSync } from "node:fs";
import { quote, refused, type SettingSource } from "./setting.js";

/** Far more than all settings with their longest lists. */
const FILE_BYTES_MAX = 1024 * 1024;

/**
 * The settings in a YAML or JSON file (JSON is YAML 1.2). `path` is relative to the working folder. A key without a
 * value, and an empty text, count as not set, as with variables. Fails with `invalid` in one line when the file cannot be
 * read, is no YAML, has a key twice or one that no setting has.
 */
export async function configurationFileSource(path: string): Promise<SettingSource> {
  const text = decode(readBytes(path), path);
  // Loaded here: the parser takes 40 ms, and most starts read no file.
  const { readConfigurationText } = await import("./configuration-text.js");
  const values = readConfigurationText(text, path);
  return ({ key }) => values.get(key);
}

function readBytes(path: string): Buffer {
  const bytes = Buffer.alloc(FILE_BYTES_MAX + 1);
  let length = 0;
  try {
    const file = openSync(path, "r");
    try {
      // In steps: what is piped in (`--config-file /dev/stdin`) comes in parts.
      for (let read = -1; read !== 0 && length < bytes.length; length += read) {
        read = readSync(file, bytes, length, bytes.length - length, null);
      }
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw refused(
      `the configuration file ${quote(path)} cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
  if (length > FILE_BYTES_MAX) throw refused(`the configuration file ${path} has more than ${FILE_BYTES_MAX} bytes`);
  return bytes.subarray(0, length);
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refused(`the configuration file ${path} is not UTF-8 text`);
  }
}
