import { deepCopy, isObject, type Unstructured } from "@capstan/apimachinery";
import { INFRASTRUCTURE_GROUP, type OlderKinds } from "@capstan/capi";
import { inlineFields } from "./kinds/pod-fields.ts";

type Fields = Record<string, unknown>;

const TO = `${INFRASTRUCTURE_GROUP}/v1beta2`;

/** Kinds of cluster-api-provider-kubernetes; v1alpha2 differs from v1alpha3 in the endpoint alone. */
export const OLDER_KINDS: OlderKinds = {
  group: "infrastructure.dippynark.co.uk",
  to: TO,
  convert: (object) => {
    const { spec, status, ...rest } = deepCopy(object) as Unstructured & { spec?: Fields; status?: Fields };
    const warnings: string[] = [];
    const made = { ...rest, apiVersion: TO };
    switch (object.kind) {
      case "KubernetesCluster":
        return { object: { ...made, spec: clusterSpec(spec ?? {}, status ?? {}, warnings) }, warnings };
      case "KubernetesMachine":
        return { object: { ...made, spec: machineSpec(spec ?? {}, warnings) }, warnings };
      case "KubernetesMachineTemplate": {
        const template = isObject(spec?.["template"]) ? (spec["template"] as Fields) : {};
        const inner = isObject(template["spec"]) ? (template["spec"] as Fields) : {};
        return {
          object: { ...made, spec: { template: { ...template, spec: machineSpec(inner, warnings) } } },
          warnings,
        };
      }
      default:
        return { object, warnings: [`there is no kind ${object.kind} to convert it to`] };
    }
  },
};

function clusterSpec(spec: Fields, status: Fields, warnings: string[]): Fields {
  const { controlPlaneEndpoint, controlPlaneServiceType, ...others } = spec;
  unknown(others, warnings);
  const endpoints = Array.isArray(status["apiEndpoints"]) ? (status["apiEndpoints"] as unknown[]) : [];
  const endpoint = controlPlaneEndpoint ?? endpoints[0];
  return {
    ...(isObject(endpoint) && endpoint["host"] ? { controlPlaneEndpoint: endpoint } : {}),
    ...(typeof controlPlaneServiceType === "string" ? { controlPlaneService: { type: controlPlaneServiceType } } : {}),
  };
}

function machineSpec(spec: Fields, warnings: string[]): Fields {
  const { providerID, allowRecreation, volumeClaimTemplates, runtimeClassName, ...pod } = spec;
  const known = inlineFields(pod);
  unknown(Object.fromEntries(Object.entries(pod).filter(([name]) => !(name in known))), warnings);
  const podSpec = Object.fromEntries(Object.entries(known).filter(([, value]) => !isEmpty(value)));
  return {
    ...(providerID === undefined ? {} : { providerID }),
    ...(allowRecreation === true ? { recreationPolicy: "Always" } : {}),
    ...(runtimeClassName === undefined ? {} : { runtimeClassName }),
    ...(Object.keys(podSpec).length === 0 ? {} : { podTemplate: { spec: podSpec } }),
    ...(Array.isArray(volumeClaimTemplates) && volumeClaimTemplates.length > 0
      ? { volumeClaimTemplates: volumeClaimTemplates.map(claimTemplate) }
      : {}),
  };
}

/** Of a whole PersistentVolumeClaim what a template has. */
function claimTemplate(claim: unknown): unknown {
  if (!isObject(claim)) return claim;
  const metadata = isObject(claim["metadata"]) ? claim["metadata"] : {};
  const kept = ["name", "labels", "annotations"].filter((name) => metadata[name] !== undefined);
  return { metadata: Object.fromEntries(kept.map((name) => [name, metadata[name]])), spec: claim["spec"] ?? {} };
}

/** The webhook of the original filled in empty lists. */
function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function unknown(fields: Fields, warnings: string[]): void {
  for (const name of Object.keys(fields)) warnings.push(`spec.${name} has no counterpart and is left out`);
}
