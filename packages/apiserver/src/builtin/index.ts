import type { ResourceType } from "../types.ts";
import {
  mutatingWebhookConfiguration,
  validatingWebhookConfiguration,
} from "./admissionregistration/webhook-configuration.ts";
import { apiService } from "./apiregistration/api-service.ts";
import { daemonSet, deployment, replicaSet, statefulSet } from "./apps/workloads.ts";
import { horizontalPodAutoscaler, oldHorizontalPodAutoscaler } from "./autoscaling/horizontal-pod-autoscaler.ts";
import { job } from "./batch/job.ts";
import { certificateSigningRequest } from "./certificates/certificate-signing-request.ts";
import { lease } from "./coordination/lease.ts";
import { configMap } from "./core/config-map.ts";
import { endpointSlice, endpoints } from "./core/endpoints.ts";
import { event, groupEvent } from "./core/event.ts";
import { namespace } from "./core/namespace.ts";
import { node } from "./core/node.ts";
import { persistentVolume, persistentVolumeClaim } from "./core/persistent-volume.ts";
import { secret } from "./core/secret.ts";
import { service } from "./core/service.ts";
import { serviceAccount } from "./core/service-account.ts";
import { pod } from "./pod/pod.ts";
import { podTemplate } from "./pod/pod-template.ts";
import { podDisruptionBudget } from "./policy/pod-disruption-budget.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "./rbac/rbac.ts";
import { priorityClass } from "./scheduling/priority-class.ts";
import { storageClass, volumeAttachment } from "./storage/storage.ts";

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
