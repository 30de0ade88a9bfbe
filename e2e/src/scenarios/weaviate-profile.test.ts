import { describeScenarios } from "./scenario-suite.js";

describeScenarios("weaviate");
