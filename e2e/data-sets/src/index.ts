export { CACHE_FOLDER } from "./cache.js";
export { exactNeighbours, type NeighboursQuestion } from "./exact-neighbours.js";
export {
  FASHION_DIMENSIONS,
  FASHION_IMAGES,
  FASHION_TRAIN_IMAGES,
  type FashionImages,
  type FashionRange,
  fashionMnist,
} from "./fashion-mnist.js";
export { GLOVE_DIMENSIONS, GLOVE_WORDS, type GloveRange, type GloveWords, gloveWords } from "./glove-words.js";
export { articlesOfTopics, REUTERS_ARTICLES, type ReutersArticle, reutersArticles } from "./reuters-articles.js";
export { type WordNetNoun, wordNetNouns } from "./wordnet-nouns.js";
