import { NO_FIGURES } from "../figures.js";
import type { Row } from "../row.js";
import { figuresOfH1 } from "./h1.js";

export const h11: Row = {
  id: "H11",
  group: "H11",
  operation: "resident memory after the load of H1 (MB)",
  target: 380,
  figure: "residentMb",
  byDefault: true,
  needsOwnServer: false,
  async run(bench) {
    const { residentMb } = await figuresOfH1(bench);
    return { ...NO_FIGURES, residentMb };
  },
};
