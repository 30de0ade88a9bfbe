import { type ExactJson, isList, member, NumberLiteral } from "../json/exact-json.js";
import { formatJson } from "../json/format-json.js";
import { writeRoute } from "../route.js";
import { readBeacon } from "./beacon.js";

/** Longer texts are unfolded on demand; blobs are long. */
const TEXT_CHARS_MAX = 1_200;

/** A value as people read it: references can be followed. */
export function PropertyValue({ value }: { readonly value: ExactJson }) {
  if (value === null) return <span class="quiet">null</span>;
  if (typeof value === "string") return <TextValue text={value} />;
  if (typeof value === "boolean" || value instanceof NumberLiteral) return <code>{String(value)}</code>;
  if (isList(value)) {
    if (value.length === 0) return <span class="quiet">none</span>;
    return (
      <ul class="values">
        {value.map((one, at) => (
          <li key={at}>
            <PropertyValue value={one} />
          </li>
        ))}
      </ul>
    );
  }
  const beacon = member(value, "beacon");
  if (typeof beacon === "string") return <BeaconLink beacon={beacon} />;
  const [latitude, longitude] = [member(value, "latitude"), member(value, "longitude")];
  if (latitude instanceof NumberLiteral && longitude instanceof NumberLiteral) {
    return (
      <code>
        {latitude.text}, {longitude.text}
      </code>
    );
  }
  return <pre>{formatJson(value)}</pre>;
}

function TextValue({ text }: { readonly text: string }) {
  if (text === "") return <span class="quiet">empty text</span>;
  if (text.length <= TEXT_CHARS_MAX) return <span class="text">{text}</span>;
  return (
    <details>
      <summary>
        {text.length} characters: {text.slice(0, 80)}…
      </summary>
      <span class="text">{text}</span>
    </details>
  );
}

function BeaconLink({ beacon }: { readonly beacon: string }) {
  const target = readBeacon(beacon);
  if (target === undefined) return <code>{beacon}</code>;
  return (
    <a class="beacon" href={writeRoute({ view: "object", id: target.id })} title={beacon}>
      {target.className !== undefined && `${target.className} `}
      <code>{target.id}</code>
    </a>
  );
}
