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
  PoolMember,
  SessionInfo,
  SimulatedHealth,
  StreamMessage,
  TimelineItem,
} from "./protocol.ts";
export { isLoopback } from "./server.ts";
export { Views } from "./views.ts";
