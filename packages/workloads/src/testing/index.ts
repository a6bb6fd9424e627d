export { startWorkload, type TestWorkload } from "./workload.ts";
