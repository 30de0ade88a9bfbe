// Converts the word vectors, in a process of its own: node main.js <file>
import { readGlove } from "./glove-source.js";
import { writeVocabulary } from "./vocabulary-file.js";

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error("usage: node main.js <file>");
const { words, matrix } = await readGlove();
await writeVocabulary(path, words, matrix);
