export const MODULE_NAME = "text2vec-contextionary";
