/** Where the built page stands, for whoever serves it; made by `build.mjs`. The same from `src` and from `dist`. */
export const CONSOLE_FOLDER: URL = new URL("../dist/page/", import.meta.url);
