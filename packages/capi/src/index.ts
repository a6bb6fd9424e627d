export { coreDnsMigrationProblems, coreDnsVersion, SKIP_COREDNS_ANNOTATION } from "./admission/coredns.ts";
export {
  convertKind,
  type KindAdmissionOptions,
  type KindAdmissionPlugin,
  type KindAdmissionRequest,
  type KindConverter,
  kindAdmissionPlugins,
  kindConverters,
  type ServedKind,
} from "./admission/plugins.ts";
export { problemText } from "./admission/problems.ts";
export { claimCapacity, type HostCapacity } from "./claims/capacity.ts";
export { explainNoHost, firstByName, type HostTexts, type Shortfall } from "./claims/choose.ts";
export { type ClaimRules, HostClaims } from "./claims/host-claims.ts";
export {
  byKindAndName,
  byUID,
  type ClaimIdentity,
  type ClaimReference,
  claimOn,
  unclaimed,
} from "./claims/reference.ts";
export { type AggregateItem, aggregate } from "./contract/aggregate.ts";
export {
  ConfigMap,
  type ContractObject,
  CustomResourceDefinition,
  Secret,
  secretText,
} from "./contract/builtin-kinds.ts";
export {
  type ConditionInput,
  headline,
  mirror,
  type SummaryInput,
  summarize,
  withTransitionTimes,
} from "./contract/conditions.ts";
export * from "./contract/constants.ts";
export {
  addressesOf,
  bootstrapDataSecretName,
  conditionsOf,
  controlPlaneInitialized,
  endpointOf,
  failureDomainsOf,
  field,
  infrastructureProvisioned,
  isExternallyManagedControlPlane,
  validEndpoint,
} from "./contract/fields.ts";
export { clonedKind, type FromTemplateInput, objectFromTemplate, templatedKind } from "./contract/from-template.ts";
export { fnv32a, labelValue } from "./contract/label-value.ts";
export { pausedCondition } from "./contract/paused.ts";
export {
  countText,
  type OpenWork,
  PROGRESS_DEADLINE_ANNOTATION,
  PROGRESS_DEADLINE_EXCEEDED,
  progressDeadlineMs,
  progressing,
  withCount,
} from "./contract/progress.ts";
export {
  hasDefinition,
  type Referenced,
  readReference,
  referenceKey,
  referenceText,
  referrersKey,
} from "./contract/referenced.ts";
export {
  type ContractVersion,
  indexCustomResourceDefinitions,
  type ResolvedKind,
  resolveKind,
} from "./contract/resolve-kind.ts";
export { CONTRACT_STATUS } from "./contract/status-deferral.ts";
export type { ContractReference, FailureDomain, MachineAddress } from "./contract/types.ts";
export { watchKind } from "./contract/watch-kind.ts";
export { list, mapToList, OBJECT_REFERENCE } from "./conversion/codecs.ts";
export { OLD_CONDITIONS } from "./conversion/old-conditions.ts";
export {
  type Codec,
  computed,
  move,
  newOnly,
  oldOnly,
  optionalInOld,
  type Rule as ConversionRule,
  recode,
  under,
} from "./conversion/rules.ts";
export { FAILURE } from "./conversion/shared-rules.ts";
export { v1beta1 } from "./conversion/v1beta1.ts";
export { type Activity, activitiesOf, activityOf, activityText, type Progress } from "./explain/activity.ts";
export {
  type ClusterNodes,
  claimOf,
  clusterNameOf,
  clusterTree,
  isHidden,
  isTreeKind,
  objectId,
  objectsByCluster,
  parentOf,
} from "./explain/cluster-tree.ts";
export type { Explanation } from "./explain/explain.ts";
export { hostKinds, isHostKind } from "./explain/host-kinds.ts";
export { hostDescription, hostTrouble, type NodeContext, notReady, shownConditions } from "./explain/host-trouble.ts";
export { type ObjectNode, objectNode, type ReplicaCounts } from "./explain/object-node.ts";
export { type Remedy, type RemedyRule, type Scope as RemedyScope, sentence } from "./explain/remedies.ts";
export {
  type Assessment,
  type AssessmentContext,
  assess,
  type ObjectState,
  STATES,
  type StateName,
  stateOf,
  stateText,
} from "./explain/state.ts";
export { type Cause, isTroubled, NEGATIVE_CONDITIONS, summaryOf } from "./explain/why.ts";
export { Budget as TemplateBudget } from "./go-template/budget.ts";
export { renderTemplate } from "./go-template/render.ts";
export {
  AddressBook,
  type AddressObjects,
  type PoolCounts,
  type PoolReader,
} from "./ipam/address-book.ts";
export {
  type AddressRange,
  addressText,
  contains,
  countOf,
  difference,
  parseAddress,
  parseRange,
  union,
} from "./ipam/address-ranges.ts";
export { type PoolAddresses, poolAddresses } from "./ipam/pool-addresses.ts";
export { type PoolPrefixes, poolPrefixes } from "./ipam/pool-prefixes.ts";
export type { PoolRanges } from "./ipam/slots.ts";
export { Waiters } from "./ipam/waiters.ts";
export { ALL_KINDS, type AnyKind } from "./kinds/all.ts";
export { Cluster } from "./kinds/cluster.ts";
export { ClusterClass } from "./kinds/cluster-class.ts";
export { ClusterResourceSet } from "./kinds/cluster-resource-set.ts";
export { ClusterResourceSetBinding } from "./kinds/cluster-resource-set-binding.ts";
export { GlobalInClusterIPPool, InClusterIPPool } from "./kinds/in-cluster-ip-pool.ts";
export { GlobalInClusterPrefixPool, InClusterPrefixPool } from "./kinds/in-cluster-prefix-pool.ts";
export { IPAddress } from "./kinds/ip-address.ts";
export { IPAddressClaim } from "./kinds/ip-address-claim.ts";
export type { ClusterConfiguration } from "./kinds/kubeadm-cluster-configuration.ts";
export { KubeadmConfig } from "./kinds/kubeadm-config.ts";
export { controlPlaneTimeoutProblems, kubeadmConfigProblems } from "./kinds/kubeadm-config-rules.ts";
export {
  type KubeadmConfigSpec,
  type KubeadmFile,
  type KubeadmUser,
  kubeadmConfigSpec,
} from "./kinds/kubeadm-config-spec.ts";
export { KubeadmConfigTemplate } from "./kinds/kubeadm-config-template.ts";
export { KubeadmControlPlane } from "./kinds/kubeadm-control-plane.ts";
export { KubeadmControlPlaneTemplate } from "./kinds/kubeadm-control-plane-template.ts";
export type { InitConfiguration, JoinConfiguration } from "./kinds/kubeadm-node-configuration.ts";
export { Machine } from "./kinds/machine.ts";
export { MachineDeployment } from "./kinds/machine-deployment.ts";
export { MachineDrainRule } from "./kinds/machine-drain-rule.ts";
export { MachineHealthCheck } from "./kinds/machine-health-check.ts";
export { MachinePool } from "./kinds/machine-pool.ts";
export { MachineSet } from "./kinds/machine-set.ts";
export { deprecatedStatus } from "./kinds/shared-status.ts";
export { RETRY_ANNOTATION, WorkerPool } from "./kinds/worker-pool.ts";
export {
  compareVersions,
  countMachines,
  countVersions,
  type MachineCounts,
  machineNames,
  staleDeletions,
} from "./machines/count-machines.ts";
export { completeMachine, createMachines, isIncomplete } from "./machines/create-machines.ts";
export { deletionHooks } from "./machines/deletion-hooks.ts";
export { isControlPlaneMachine, machineAggregates } from "./machines/machine-aggregates.ts";
export { generateName, type NameValues, newMachineName } from "./machines/machine-name.ts";
export { type MachinePart, type NewPart, type TemplatePart, templatePart } from "./machines/machine-part.ts";
export { type MachinePlan, type MachineSettings, type NewMachine, planProblem } from "./machines/machine-plan.ts";
export {
  isRemediationRequested,
  machinesInRemediation,
  machinesToRemediate,
  releaseRecovered,
  setRemediated,
} from "./machines/remediation.ts";
export { scalingDown, scalingUp } from "./machines/scaling-conditions.ts";
export { MachineSync } from "./machines/sync-machines.ts";
export { hostKindOf, type Shortage, shortages, shortageText } from "./plan/capacity.ts";
export { clusterObjects, PLAN_ANNOTATION } from "./plan/cluster-objects.ts";
export {
  type ClusterPlan,
  CONTROL_PLANE_GROUP,
  type ControlPlanePlan,
  machineGroups,
  POOL_STRATEGIES,
  type PoolPlan,
  type PoolShare,
  type PoolStrategy,
  type WorkerGroup,
} from "./plan/cluster-plan.ts";
export { builtInTemplate, clusterTemplates, templateFlavors } from "./plan/cluster-template.ts";
export { type Installed, type MissingVersion, missingVersion } from "./plan/installed.ts";
export {
  DEFAULT_VERSION,
  NEWEST_MINOR,
  NEXT_RELEASE,
  OLDEST_MINOR,
  supportPeriod,
  supportWarning,
  supportWindow,
  TESTED_VERSIONS,
  versionProblem,
} from "./plan/supported-versions.ts";
export {
  controlPlaneOfKind,
  controlPlaneOption,
  controlPlaneOptions,
  onlyInMemory,
  planWarnings,
  workerOption,
  workerOptions,
} from "./plan/worker-options.ts";
export { grantsNamespace, USABLE_FROM_ANNOTATION } from "./references/grant.ts";
export {
  type NamedReference,
  namedTarget,
  type ReferenceTarget,
  type ResolvedReference,
  resolveGranted,
  resolveReference,
} from "./references/resolve.ts";
export {
  condition,
  conditions,
  contractReference,
  failureDomain,
  labelSelector,
  objectName,
  observedGeneration,
  templateMetadata,
} from "./schema/common.ts";
export {
  type AdmissionKind,
  type AdmissionLookup,
  type AdmissionProblem,
  type ApiVersionLookup,
  defineKind,
  type KindAdmission,
  type KindDefinition,
  type KindObject,
  type KindOptions,
  type KindVersion,
  type ObjectOf,
  type PrinterColumnDefinition,
  type VersionConverter,
} from "./schema/kind.ts";
export {
  anything,
  array,
  boolean,
  documented,
  type Infer,
  integer,
  intOrString,
  map,
  type OptionalSchema,
  object,
  openObject,
  optional,
  quantity,
  type Rule,
  type Schema,
  string,
  time,
} from "./schema/schema.ts";
export { adopt } from "./sdk/adopt.ts";
export type { CapacityRequest, CapacitySource } from "./sdk/capacity.ts";
export type { ClusterDefinition } from "./sdk/cluster-reconciler.ts";
export type {
  CombinedInfrastructure,
  CombiningOption,
  ControlPlaneOption,
  HostFacts,
  HostKind,
  HostSimulation,
  OlderKinds,
  ProviderBadge,
  ProviderDescription,
  QuickStart,
  SimulatedHealth,
  WhyRules,
  WorkerChoice,
  WorkerOption,
  WorkerSetting,
  WorkerTemplates,
} from "./sdk/description.ts";
export { ensureOwned } from "./sdk/ensure-owned.ts";
export {
  type AnyKindDefinition,
  type InfraClusterObject,
  type InfraKindOptions,
  type InfraMachineObject,
  infraClusterKind,
  infraMachineKind,
  templateKind,
} from "./sdk/infra-kinds.ts";
export {
  type InfrastructureProvider,
  type InfrastructureProviderOptions,
  infrastructureProvider,
} from "./sdk/infrastructure-provider.ts";
export { kindsRole, untilServed } from "./sdk/install-kinds.ts";
export type { MachineDefinition } from "./sdk/machine-reconciler.ts";
export { identifyNode, type NodeIdentity } from "./sdk/node-identity.ts";
export { failed, gone, noCapacity, type Outcome, ready, trouble, wait } from "./sdk/outcome.ts";
export { ownerCluster, ownerClusterName, ownerMachine } from "./sdk/owners.ts";
export type { LoadedProvider, PolicyRule, Provider, ProviderAccess, ProviderDeps } from "./sdk/provider.ts";
export { type ReasonCatalogue, type ReasonDoc, SHARED_REASONS } from "./sdk/reasons.ts";
export { type RunningProvider, type RunProviderOptions, runProvider } from "./sdk/run-provider.ts";
export type {
  BootstrapData,
  InfraClusterRemoval,
  InfraClusterScope,
  MachineRemoval,
  MachineScope,
  ProviderScope,
} from "./sdk/scope.ts";
export { type SimulatedHost, simulatedHost } from "./simulation/simulated-host.ts";
export {
  type GivenVariables,
  resolveVariables,
  type VariableDefinition,
  type VariableValues,
} from "./topology/variables.ts";
export { type AdmissionReviewResponse, type AdmissionStep, admissionReviewer } from "./webhooks/admission-review.ts";
export {
  crdWithoutWebhook,
  crdWithWebhook,
  WEBHOOK_PATHS,
  type WebhookTarget,
  webhookConfigurations,
} from "./webhooks/configurations.ts";
export { type ConversionReviewResponse, conversionReview } from "./webhooks/conversion-review.ts";
export { reach } from "./workload/reach.ts";
export type { ClusterKey, Node, NodeTaint, NodeView, WorkloadClusters, WorkloadConnection } from "./workload/types.ts";
export { WorkloadCalls, WorkloadUnavailable } from "./workload/workload-calls.ts";
export {
  CONNECTING_MS,
  WorkloadConnections,
  type WorkloadConnectionsOptions,
} from "./workload/workload-connections.ts";
