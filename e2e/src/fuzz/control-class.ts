import type { SeededRandom } from "@shoal/seeded-random";
import type { HttpClient } from "../http-client.js";
import { randomId, randomVector } from "../random-objects.js";

/** Never named by any other request. */
export const CONTROL_CLASS = "UntouchedControl";

const OBJECTS = 60;

/** A class that nobody but this file touches, and what the server said of it at the beginning. */
export class ControlClass {
  private constructor(
    readonly http: HttpClient,
    readonly answers: ReadonlyMap<string, string>,
  ) {}

  static async create(http: HttpClient, chance: SeededRandom): Promise<ControlClass> {
    const random = chance.next;
    const properties = [
      { name: "text", dataType: ["text"] },
      { name: "number", dataType: ["int"] },
      { name: "place", dataType: ["geoCoordinates"] },
      { name: "tags", dataType: ["text[]"] },
    ];
    await expectOk(http.post("/v1/schema", { class: CONTROL_CLASS, properties, shardingConfig: { desiredCount: 2 } }));
    const objects = Array.from({ length: OBJECTS }, (_, number) => ({
      class: CONTROL_CLASS,
      id: randomId(random),
      properties: {
        text: `control ${number}`,
        number,
        place: { latitude: number, longitude: -number },
        tags: ["a", `${number}`],
      },
      vector: randomVector(random, 4),
    }));
    await expectOk(http.post("/v1/batch/objects", { objects }));
    const paths = [
      `/v1/schema/${CONTROL_CLASS}`,
      `/v1/objects?class=${CONTROL_CLASS}&limit=100&include=vector`,
      `/v1/objects?class=${CONTROL_CLASS}&limit=100&after=00000000-0000-0000-0000-000000000000`,
      ...objects.map(({ id }) => `/v1/objects/${id}?include=vector`),
    ];
    const queries = objects.slice(0, 10).map(({ vector }) => {
      const near = `nearVector:{vector:${JSON.stringify(vector)}},limit:10`;
      return `{Get{${CONTROL_CLASS}(${near}){text number tags _additional{id certainty vector}}}}`;
    });
    queries.push(
      `{Get{${CONTROL_CLASS}(where:{path:["number"],operator:LessThan,valueInt:20}){text _additional{id}}}}`,
      `{Get{${CONTROL_CLASS}(where:{path:["tags"],operator:Like,valueText:"1?"}){number}}}`,
      `{Get{${CONTROL_CLASS}(where:{path:["place"],operator:WithinGeoRange,valueGeoRange:{geoCoordinates:{latitude:9,longitude:-9},distance:{max:400000}}}){number}}}`,
      `{Aggregate{${CONTROL_CLASS}{meta{count} number{mean mode median sum} text{topOccurrences{value occurs}}}}}`,
      `{Aggregate{${CONTROL_CLASS}(groupBy:["tags"]){groupedBy{value} meta{count}}}}`,
    );
    const answers = new Map<string, string>();
    for (const question of [...paths, ...queries]) answers.set(question, await ask(http, question));
    const refused = [...answers].find(([, answer]) => !answer.startsWith("200") || answer.includes('"errors":['));
    if (refused !== undefined) throw new Error(`the control class: ${refused.join(": ").slice(0, 1_000)}`);
    return new ControlClass(http, answers);
  }

  /** The questions that are answered otherwise than at the beginning. */
  async differences(): Promise<readonly string[]> {
    const differences: string[] = [];
    for (const [question, before] of this.answers) {
      const now = await ask(this.http, question);
      if (now !== before) differences.push(`${question}: ${before.slice(0, 300)} has become ${now.slice(0, 300)}`);
    }
    return differences;
  }
}

async function ask(http: HttpClient, question: string): Promise<string> {
  const answer = question.startsWith("/") ? await http.get(question) : await http.graphql(question);
  return `${answer.status} ${answer.text}`;
}

async function expectOk(sent: Promise<{ readonly status: number; readonly text: string }>): Promise<void> {
  const { status, text } = await sent;
  if (status !== 200 || text.includes('"errors"'))
    throw new Error(`the control class: ${status} ${text.slice(0, 1_000)}`);
}
