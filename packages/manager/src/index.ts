export { MANAGER_NAMESPACE, managerTransport } from "./access.ts";
export { observeClusterStates } from "./cluster-metrics.ts";
export { actingInProcess, actingOverHttp } from "./dashboard/acting.ts";
export { type Dashboard, startDashboard } from "./dashboard/dashboard.ts";
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
} from "./dashboard/protocol.ts";
export { isLoopback } from "./dashboard/server.ts";
export { Views } from "./dashboard/views.ts";
export { type ElectedOptions, type ElectionOptions, runElected } from "./elected.ts";
export type { ManagerEndpoints, WantedAddress } from "./endpoints.ts";
export { GENERATED_FOLDERS, generatedFiles } from "./generate/files.ts";
export { installKinds } from "./install-kinds.ts";
export { type InstanceRecord, readInstance } from "./instance.ts";
export { kindRules } from "./kind-rules.ts";
export { KINDS } from "./kinds.ts";
export { installKubernetes, listKubernetes, removeKubernetes } from "./kubernetes/install.ts";
export { ProviderError, withProviders } from "./load-providers.ts";
export { type Manager, type ManagerOptions, startManager } from "./manager.ts";
export { kindsOf, type ManagedProvider, PROVIDERS } from "./providers.ts";
export { restoreStandalone } from "./restore.ts";
export { simulatedHosts } from "./simulation/simulated-hosts.ts";
export { AlreadyRunningError, type Standalone, type StandaloneOptions, startStandalone } from "./standalone.ts";
export { type KindServing, type ServedBy, serveKinds, type WebhookOptions } from "./webhooks.ts";
