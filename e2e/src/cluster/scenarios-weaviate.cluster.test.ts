import { describe } from "vitest";
import { lacks } from "../needs.js";
import { describeScenarios } from "../scenarios/scenario-suite.js";
import { ClusterScenarios } from "./cluster-scenarios.js";

describe.skipIf(lacks("etcd"))("on a cluster (needs etcd)", () =>
  describeScenarios("weaviate", new ClusterScenarios("weaviate")),
);
