import { deepCopy, type Unstructured } from "@capstan/apimachinery";
import { hasRules, rulesOf, type ServedKind } from "../admission/plugins.ts";

/** Where webhooks are reached: by URL, or as a Service in the cluster. */
export type WebhookTarget =
  | { type: "url"; base: string }
  | { type: "service"; namespace: string; name: string; port: number };

/** Paths that the webhook server answers. */
export const WEBHOOK_PATHS = { mutate: "/mutate", validate: "/validate", convert: "/convert" } as const;

function clientConfig(target: WebhookTarget, path: string, caPem: string | undefined): object {
  const bundle = caPem === undefined ? {} : { caBundle: Buffer.from(caPem).toString("base64") };
  if (target.type === "url") return { url: `${target.base}${path}`, ...bundle };
  const { namespace, name, port } = target;
  return { service: { namespace, name, port, path }, ...bundle };
}

/** A CRD whose versions a real Kubernetes converts by our webhook; kinds of one version stay as they are. */
export function crdWithWebhook(
  kind: ServedKind & { crd(): Unstructured },
  target: WebhookTarget,
  caPem?: string,
): Unstructured {
  const crd = deepCopy(kind.crd());
  if (!kind.versions.some(({ convert }) => convert !== undefined)) return crd;
  const spec = crd["spec"] as Record<string, unknown>;
  spec["conversion"] = {
    strategy: "Webhook",
    webhook: { clientConfig: clientConfig(target, WEBHOOK_PATHS.convert, caPem), conversionReviewVersions: ["v1"] },
  };
  return crd;
}

/** A CRD for a real Kubernetes without webhooks: only the stored version, because nothing converts the others. */
export function crdWithoutWebhook(kind: ServedKind & { crd(): Unstructured }): Unstructured {
  const crd = deepCopy(kind.crd());
  const spec = crd["spec"] as { versions: { name: string; served: boolean }[] };
  if (!kind.versions.some(({ convert }) => convert !== undefined)) return crd;
  spec.versions = spec.versions.filter(({ name }) => name === kind.version);
  const labels = crd.metadata.labels ?? {};
  for (const [label, versions] of Object.entries(labels))
    if (label.startsWith("cluster.x-k8s.io/v1") && !versions.split("_").includes(kind.version)) delete labels[label];
  return crd;
}

/** Another number of replicas may come by way of the scale subresource. */
function resourcesOf(kind: ServedKind, step: "mutate" | "validate"): string[] {
  const { plural } = kind;
  const scale = step === "validate" && rulesOf(kind).checksReplicas === true;
  return scale ? [plural, `${plural}/scale`] : [plural];
}

/** Webhook configurations for the rules of kinds. */
export function webhookConfigurations(
  kinds: readonly ServedKind[],
  name: string,
  target: WebhookTarget,
  caPem?: string,
): Unstructured[] {
  const checked = kinds.filter(hasRules);
  const make = (step: "mutate" | "validate", operations: string[]): Unstructured => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: step === "mutate" ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration",
    metadata: { name },
    webhooks: checked
      .filter((kind) => step === "validate" || rulesOf(kind).default !== undefined)
      .map((kind) => ({
        name: `${step === "mutate" ? "default" : "validation"}.${kind.kind.toLowerCase()}.${kind.group}`,
        admissionReviewVersions: ["v1"],
        clientConfig: clientConfig(target, WEBHOOK_PATHS[step], caPem),
        failurePolicy: "Fail",
        // Requests in other versions come converted to this one.
        matchPolicy: "Equivalent",
        sideEffects: "None",
        rules: [
          { apiGroups: [kind.group], apiVersions: [kind.version], operations, resources: resourcesOf(kind, step) },
        ],
      })),
  });
  return [make("mutate", ["CREATE", "UPDATE"]), make("validate", ["CREATE", "UPDATE", "DELETE"])];
}
