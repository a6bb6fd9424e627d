import { toYaml } from "@capstan/apimachinery";
import { clusterObjects, PLAN_ANNOTATION, type ProviderName } from "@capstan/capi";

const COUNT = "${WORKER_MACHINE_COUNT}";

/** The template of one provider's clusters: what `create cluster` makes, with clusterctl's variables where the answers go. */
export function builtInTemplate(provider: ProviderName): string {
  const settings: Record<string, string> =
    provider === "metal3"
      ? { image: "${IMAGE_URL}", checksum: "${IMAGE_CHECKSUM}", checksumType: "${IMAGE_CHECKSUM_TYPE:=sha256}" }
      : {};
  const objects = clusterObjects({
    name: "${CLUSTER_NAME}",
    namespace: "${NAMESPACE}",
    version: "${KUBERNETES_VERSION}",
    ...(provider === "memory" ? { placement: "Embedded" } : {}),
    podCidrs: ["${POD_CIDR:=10.244.0.0/16}"],
    serviceCidrs: ["${SERVICE_CIDR:=10.96.0.0/16}"],
    labels: {},
    workers: [{ name: "md-0", provider, replicas: 0, select: {}, settings }],
  });
  return objects
    .map((object) => {
      if (object.metadata.annotations !== undefined) delete object.metadata.annotations[PLAN_ANNOTATION];
      if (object.metadata.annotations !== undefined && Object.keys(object.metadata.annotations).length === 0)
        delete object.metadata.annotations;
      return toYaml(object).replace(/^ {2}replicas: 0$/m, `  replicas: ${COUNT}`);
    })
    .join("---\n");
}
