import type { SeededRandom } from "@shoal/seeded-random";

const TOKEN = /"""[\s\S]*?"""|"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\.\.|\S/g;

const ODD_TOKENS = [
  ...["{", "}", "(", ")", "[", "]", ":", "=", "!", "|", "&", "@", "$", "...", "$x", "@include", "@skip(if: true)"],
  ...["@include(if: $nothing)", "@deprecated", "on", "fragment", "query", "mutation", "subscription", "null", "true"],
  ...["0", "-0", "1e400", "-1e400", "99999999999999999999999999", "0x10", "1.", ".5", "01", "1e", "-", "NaN"],
  ...['""', '"', '"""', '"""a"""', '"\\u0000"', '"\\ud800"', '"\\q"', "\u0000", "\ufeff", "\u2028", "#", "# x\n", ","],
  ...[
    "__typename",
    "__schema",
    "__proto__",
    "constructor",
    "toString",
    "Get",
    "Aggregate",
    "Explore",
    "_additional",
    "𝄞",
  ],
  ...["{}", "()", "[]", "[[]]", "{a: 1}", "[null]", "where", "limit: 1", "extend type X {a: Int}", "type X {a: Int}"],
];

/** The query with some of its words gone, doubled, changed places, or others in their stead. */
export function withOddTokens(query: string, chance: SeededRandom): string {
  const tokens = query.match(TOKEN) ?? [];
  for (let round = 1 + chance.below(3); round > 0 && tokens.length > 0; round--) {
    const at = chance.below(tokens.length);
    switch (chance.below(7)) {
      case 0:
        tokens.splice(at, 1 + chance.below(3));
        break;
      case 1:
        tokens.splice(at, 0, chance.pick(tokens));
        break;
      case 2:
        tokens.splice(at, 0, chance.pick(ODD_TOKENS));
        break;
      case 3:
      case 4:
        tokens[at] = chance.oneIn(2) ? chance.pick(ODD_TOKENS) : chance.pick(tokens);
        break;
      case 5:
        tokens.splice(at, 1, ...tokens.slice(at, at + chance.below(40)), ...tokens.slice(at, at + 40));
        break;
      default:
        tokens.length = at;
    }
  }
  return tokens.join(chance.pick([" ", " ", "\n", ",", "\t"]));
}

const COUNTS = [3, 30, 100, 300, 1_000, 10_000, 100_000];
/** What a request may hold is told by the server; what is sent must stay below a few megabytes. */
const CHARS_MAX = 3_000_000;

/** A query with far too much of something, about a class that has the property `ref`. */
export function bomb(className: string, chance: SeededRandom): string {
  const count = chance.pick(COUNTS);
  const many = (item: (at: number) => string, joint = " "): string =>
    Array.from({ length: Math.min(count, Math.floor(CHARS_MAX / (item(0).length + 8))) }, (_, at) => item(at)).join(
      joint,
    );
  const nested = (open: string, close: string, inner = "__typename"): string => {
    const depth = Math.min(count, Math.floor(CHARS_MAX / (open.length + close.length)));
    return open.repeat(depth) + inner + close.repeat(depth);
  };
  const get = (given: string, fields = "_additional{id}"): string => `{Get{${className}(${given}){${fields}}}}`;
  const equal = '{path:["title"],operator:Equal,valueText:"a"}';
  const makers: readonly (() => string)[] = [
    () => `{Get{${className}{${nested(`ref{... on ${className}{`, "}}")}}}}`,
    () => nested("{", "}"),
    () => `{Get{${many((at) => `a${at}:${className}(limit:1){_additional{id}}`)}}}`,
    () => `{Get{${className}{${many((at) => `a${at}:__typename`)}}}}`,
    () => `{${many((at) => `a${at}:Get{__typename}`)}}`,
    () => `{Aggregate{${many((at) => `a${at}:${className}{meta{count}}`)}}}`,
    () => `{${many((at) => `a${at}:Explore(nearVector:{vector:[0.1,0.2,${at}]},limit:1000){beacon}`)}}`,
    () =>
      `{Get{${className}{...f0}}} ${many((at) => `fragment f${at} on ${className}{...f${at + 1}}`)} fragment f${count} on ${className}{...f0}`,
    () =>
      `{Get{${className}{...f0 ...f0}}} ${many((at) => `fragment f${at} on ${className}{...f${at + 1} ...f${at + 1}}`)}`,
    () => get(`where:${nested("{operator:And,operands:[", "]}", equal)}`),
    () => get(`where:${nested("{operator:Not,operands:[", "]}", equal)}`),
    () => get(`where:{operator:Or,operands:[${many(() => equal, ",")}]}`),
    () => get(`where:{path:[${many(() => `"ref","${className}"`, ",")},"title"],operator:Equal,valueText:"a"}`),
    () => get(`where:{path:["title"],operator:ContainsAny,valueText:[${many((at) => `"w${at}"`, ",")}]}`),
    () => get(`where:{path:["title"],operator:Like,valueText:"${"*a?".repeat(Math.min(count, 300_000))}"}`),
    () => get(`where:{path:["title"],operator:Equal,valueText:"${many(() => "word")}"}`),
    () => get(`nearVector:{vector:[${many((at) => `0.${at}`, ",")}]}`),
    () => get(`nearVector:${nested("[", "]", "1")}`),
    () => get(`limit:${"9".repeat(count)}`),
    () => get(`limit:1e${count}`),
    () => get(`nearObject:{id:"${"x".repeat(count)}"}`),
    () => `query(${many((at) => `$v${at}:Int`)}){__typename}`,
    () => many((at) => `query q${at}{__typename}`),
    () => `{__schema{types{fields{type${nested("{ofType", "}", "{name}")}}}}}`,
    () => `${many(() => "#x", "\n")}\n{__typename}`,
    () => `{__typename ${many(() => "@skip(if:false)")}}`,
    () => `{Get{${className}(limit:10000){_additional{id vector} ${nested(`ref{... on ${className}{`, "}}")}}}}`,
    () =>
      `{Aggregate{${className}(groupBy:["${chance.pick(["title", "count", "tags"])}"],limit:1000000){groupedBy{value} meta{count}}}}`,
    () => "\u0000".repeat(count),
    () => `{Get{${className}(limit:10000,group:{type:merge,force:0.9}){title _additional{id}}}}`,
  ];
  return chance.pick(makers)();
}
