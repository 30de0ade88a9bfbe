import type { Chance } from "./chance.js";
import type { KnownObject } from "./known-names.js";

/** The server takes larger ones, but a parser holds it up for up to 0.2 s a megabyte of the worst there is. */
const BYTES = 1_000_000;

/** A body of about a megabyte, for any operation; half of them hold more than anybody means to send. */
export function largeBody({ id, className }: KnownObject, chance: Chance): string {
  const head = `{"class":"${className}","id":"${id}","name":"title","query":"{Get{${className}{title}}}",`;
  const many = (item: (at: number) => string): string => {
    const length = item(1_000).length + 1;
    return Array.from({ length: Math.floor(BYTES / length) }, (_, at) => item(at)).join(",");
  };
  switch (chance.below(10)) {
    case 0:
      return `${head}"properties":{"title":"${"x".repeat(BYTES)}"},"vector":[1,2,3]}`;
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
      return `{"query":"{Get{${className}(limit:1){${"title ".repeat(BYTES / 6)}}}}"}`;
    default:
      return `${head}"properties":[${many((at) => `{"name":"p${at}","dataType":["text"]}`)}]}`;
  }
}
