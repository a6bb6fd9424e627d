export { type TransportCase, transportCases } from "./transport-suite.ts";
