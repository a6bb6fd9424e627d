export { actingInProcess, actingOverHttp } from "./acting.ts";
export { type Dashboard, startDashboard } from "./dashboard.ts";
export type {
  Chip,
  ClusterAccess,
  ClusterItem,
  ControlPlaneHome,
  Counts,
  FleetRow,
  HostRow,
  ObjectFacts,
  ObjectItem,
  PlannedCluster,
  PoolMember,
  ProviderInfo,
  SessionInfo,
  StreamMessage,
  TimelineItem,
  WorkerInfo,
} from "./protocol.ts";
export { providerInfos } from "./providers.ts";
export { isLoopback } from "./server.ts";
export { Views } from "./views.ts";
