import { describeScenarios } from "../scenarios/scenario-suite.js";
import { ClusterScenarios } from "./cluster-scenarios.js";

describeScenarios("weaviate", new ClusterScenarios("weaviate"));
