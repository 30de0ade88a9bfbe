import type { SeededRandom } from "@shoal/seeded-random";
import type { KnownObject } from "./known-names.js";

/** The largest are as large as the server takes. */
const SIZES = [1_000_000, 1_000_000, 4_000_000, 16_000_000];

/** A body of some megabytes, for any operation; half of them hold more than anybody means to send. */
export function largeBody({ id, className }: KnownObject, chance: SeededRandom): string {
  const bytes = chance.pick(SIZES);
  const head = `{"class":"${className}","id":"${id}","name":"title","query":"{Get{${className}{title}}}",`;
  const many = (item: (at: number) => string): string => {
    const length = item(1_000).length + 1;
    return Array.from({ length: Math.floor(bytes / length) }, (_, at) => item(at)).join(",");
  };
  switch (chance.below(10)) {
    case 0:
      return `${head}"properties":{"title":"${"x".repeat(bytes)}"},"vector":[1,2,3]}`;
    case 1:
      return `${head}"vector":[${many((at) => `0.${at}`)}]}`;
    case 2:
      return `${head}"vector":[1,2,3],"properties":{${many((at) => `"p${at}":${at}`)}}}`;
    case 3:
      return `${head}"vector":[1,2,3],"properties":{"sizes":[${many((at) => `${at}`)}]}}`;
    case 4:
      return `{"objects":[${many(() => "{}")}]}`;
    case 5: {
      const object = (at: number): string =>
        `{"class":"${className}","properties":{"title":"number ${at}","count":${at}},"vector":[${at},1,-1]}`;
      return `{"objects":[${Array.from({ length: chance.pick([100, 1_000, 3_000]) }, (_, at) => object(at)).join(",")}]}`;
    }
    case 6:
      return `[${many(() => `{"beacon":"weaviate://localhost/${id}"}`)}]`;
    case 7:
      return `[${many(() => `{"from":"x://localhost/${className}/${id}/ref","to":"x://localhost/${id}"}`)}]`;
    case 8:
      return `{"query":"{Get{${className}(limit:1){${"title ".repeat(bytes / 6)}}}}"}`;
    default:
      return `${head}"properties":[${many((at) => `{"name":"p${at}","dataType":["text"]}`)}]}`;
  }
}
