import type { ResourceType } from "../types.ts";
import { apiService } from "./api-service.ts";
import { certificateSigningRequest } from "./certificate-signing-request.ts";
import { configMap } from "./config-map.ts";
import { endpointSlice, endpoints } from "./endpoints.ts";
import { event, groupEvent } from "./event.ts";
import { horizontalPodAutoscaler, oldHorizontalPodAutoscaler } from "./horizontal-pod-autoscaler.ts";
import { job } from "./job.ts";
import { lease } from "./lease.ts";
import { namespace } from "./namespace.ts";
import { node } from "./node.ts";
import { persistentVolume, persistentVolumeClaim } from "./persistent-volume.ts";
import { pod } from "./pod.ts";
import { podDisruptionBudget } from "./pod-disruption-budget.ts";
import { podTemplate } from "./pod-template.ts";
import { priorityClass } from "./priority-class.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "./rbac.ts";
import { secret } from "./secret.ts";
import { service } from "./service.ts";
import { serviceAccount } from "./service-account.ts";
import { storageClass, volumeAttachment } from "./storage.ts";
import { mutatingWebhookConfiguration, validatingWebhookConfiguration } from "./webhook-configuration.ts";
import { daemonSet, deployment, replicaSet, statefulSet } from "./workloads.ts";

const TYPES: readonly ResourceType[] = [
  configMap,
  endpoints,
  event,
  namespace,
  node,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  podTemplate,
  secret,
  service,
  serviceAccount,
  apiService,
  daemonSet,
  deployment,
  replicaSet,
  statefulSet,
  groupEvent,
  job,
  horizontalPodAutoscaler,
  oldHorizontalPodAutoscaler,
  certificateSigningRequest,
  podDisruptionBudget,
  clusterRole,
  clusterRoleBinding,
  role,
  roleBinding,
  storageClass,
  volumeAttachment,
  mutatingWebhookConfiguration,
  validatingWebhookConfiguration,
  priorityClass,
  lease,
  endpointSlice,
];

/** The built-in kinds. The list and its values are immutable and shared by all servers of the process; schemas are expanded when first read. */
export function builtinTypes(): readonly ResourceType[] {
  return TYPES;
}
