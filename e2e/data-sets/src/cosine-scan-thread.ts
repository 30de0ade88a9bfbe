import { parentPort, workerData } from "node:worker_threads";
import { type CosineQuestion, scanCosine } from "./cosine-scan.js";

// The thread that `exactNeighbours` starts: one question in, one answer out.
parentPort?.postMessage(scanCosine(workerData as CosineQuestion));
