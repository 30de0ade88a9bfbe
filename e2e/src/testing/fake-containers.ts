import { FakeContainer } from "@shoal/inference/testing/fake-container";
import type { HttpClient } from "../http-client.js";
import { importObjects } from "../import-objects.js";

/** The fake's language: how often a text has each of these, and one that all texts have. */
const WORDS = ["football", "market", "frog", "oslo", "cup"];
export const IDS = ["1", "2", "3"].map((last) => `a0000000-0000-0000-0000-00000000000${last}`);
export const TITLES = [
  "Football: who wins the cup?",
  "The market falls",
  "A frog lives in the forest. Oslo is far away",
];

export function vectorOf(text: unknown): readonly number[] {
  return [...WORDS.map((word) => String(text).toLowerCase().split(word).length - 1), 0.1];
}

export function imageOf(...bytes: readonly number[]): string {
  return Buffer.from(bytes).toString("base64");
}

/** A container for every module that can have one. */
export class FakeContainers implements AsyncDisposable {
  private constructor(
    /** Vectors of texts: {@link vectorOf}. */
    readonly texts: FakeContainer,
    /** Vectors of images: their first two bytes. */
    readonly images: FakeContainer,
    /** Knows where Oslo is. */
    readonly answers: FakeContainer,
    /** Knows the name Oslo. */
    readonly names: FakeContainer,
    /** Corrects fotball. */
    readonly spelling: FakeContainer,
  ) {}

  static async start(): Promise<FakeContainers> {
    return new FakeContainers(
      await FakeContainer.start({ "/vectors": ({ text }) => ({ text, dims: 6, vector: vectorOf(text) }) }),
      await FakeContainer.start({
        "/vectors": ({ id, image }) => ({
          id,
          dim: 2,
          vector: [...Buffer.from(String(image), "base64").subarray(0, 2)],
        }),
      }),
      await FakeContainer.start({
        "/answers/": ({ text, question }) => {
          const isKnown = String(text).includes("Oslo") && String(question).toLowerCase() === "where is oslo?";
          return { text, question, answer: isKnown ? "far away" : null, certainty: isKnown ? 0.8 : null };
        },
      }),
      await FakeContainer.start({
        "/ner/": ({ text }) => {
          const startPosition = String(text).indexOf("Oslo");
          const token = {
            entity: "I-LOC",
            certainty: 0.75,
            word: "Oslo",
            startPosition,
            endPosition: startPosition + 4,
          };
          return { text, tokens: startPosition === -1 ? [] : [token] };
        },
      }),
      await FakeContainer.start({
        "/spellcheck/": ({ text }) => ({ text, changes: [{ original: "fotball", correction: "football" }] }),
      }),
    );
  }

  /** Settings of a process that asks them. */
  get settings(): Readonly<Record<string, string>> {
    return {
      TRANSFORMERS_INFERENCE_API: this.texts.address,
      IMAGE_INFERENCE_API: this.images.address,
      QNA_INFERENCE_API: this.answers.address,
      NER_INFERENCE_API: this.names.address,
      SPELLCHECK_INFERENCE_API: this.spelling.address,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [this.texts, this.images, this.answers, this.names, this.spelling];
    for (const container of all) await container[Symbol.asyncDispose]();
  }
}

/** Makes the classes Article and Photo, whose vectors are those of the containers, and imports articles and photos. */
export async function importArticlesAndPhotos(http: HttpClient): Promise<void> {
  const classes = [
    {
      class: "Article",
      vectorizer: "text2vec-transformers",
      moduleConfig: { "text2vec-transformers": { vectorizeClassName: false } },
      properties: [{ name: "title", dataType: ["text"] }],
    },
    {
      class: "Photo",
      vectorizer: "img2vec-neural",
      moduleConfig: { "img2vec-neural": { imageFields: ["image"] } },
      properties: [{ name: "image", dataType: ["blob"] }],
    },
  ];
  for (const definition of classes) {
    const { status, text } = await http.post("/v1/schema", definition);
    if (status !== 200) throw new Error(text);
  }
  const articles = TITLES.map((title, i) => ({ class: "Article", id: IDS[i], properties: { title } }));
  const photos = [imageOf(1, 200), imageOf(200, 1)].map((image) => ({ class: "Photo", properties: { image } }));
  await importObjects(http, [...articles, ...photos]);
}
