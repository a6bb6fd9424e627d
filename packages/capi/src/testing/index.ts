export { arbitraryObjectOf, arbitraryOf } from "./arbitrary.ts";
export { type AnyClaimFleet, type ClaimCase, type ClaimSubject, claimCases } from "./claim-cases.ts";
export { ClaimFleet, type FleetDeps, type FleetFaults, type FleetRules, type FleetWorld } from "./claim-fleet.ts";
export { connectedCluster, type TestApi } from "./connected-cluster.ts";
export { type ConversionCase, conversionCases } from "./conversion-laws.ts";
export { CountingTransport } from "./counting-transport.ts";
export { RestartableControllers } from "./restartable.ts";
export { timeless } from "./timeless.ts";
