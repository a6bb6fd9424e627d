export { type Faults, FaultyTransport } from "./faulty-transport.ts";
export { type TransportCase, transportCases } from "./transport-suite.ts";
