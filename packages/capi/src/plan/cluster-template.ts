import { toYaml, type Unstructured } from "@capstan/apimachinery";
import { clusterObjects, PLAN_ANNOTATION } from "./cluster-objects.ts";
import type { WorkerGroup } from "./cluster-plan.ts";
import type { ProviderName } from "./worker-providers.ts";

/** Workers of a template, with the variable that says how many. */
interface TemplateWorkers {
  name: string;
  provider: ProviderName;
  count: string;
}

const WORKERS = "${WORKER_MACHINE_COUNT}";

/** Templates by flavor, as clusterctl names its files: `cluster-template-FLAVOR.yaml`. The first is the one without a flavor. */
const FLAVORS: Readonly<Record<string, readonly TemplateWorkers[]>> = {
  "own-hosts": [{ name: "md-0", provider: "byoh", count: WORKERS }],
  "bare-metal": [{ name: "md-0", provider: "metal3", count: WORKERS }],
  mixed: [
    { name: "own", provider: "byoh", count: WORKERS },
    { name: "metal", provider: "metal3", count: "${BARE_METAL_MACHINE_COUNT:=1}" },
  ],
  "in-memory": [{ name: "md-0", provider: "memory", count: WORKERS }],
};

/** All templates of a clusterctl repository, by file name. */
export function clusterTemplates(): Map<string, string> {
  const [standard = []] = Object.values(FLAVORS);
  return new Map([
    ["cluster-template.yaml", templateOf(standard)],
    ...Object.entries(FLAVORS)
      .slice(1)
      .map(([flavor, workers]): [string, string] => [`cluster-template-${flavor}.yaml`, templateOf(workers)]),
  ]);
}

/** The template of one provider's clusters: what `create cluster` makes, with clusterctl's variables where the answers go. */
export function builtInTemplate(provider: ProviderName): string {
  return templateOf([{ name: "md-0", provider, count: WORKERS }]);
}

function templateOf(workers: readonly TemplateWorkers[]): string {
  const objects = clusterObjects({
    name: "${CLUSTER_NAME}",
    namespace: "${NAMESPACE}",
    version: "${KUBERNETES_VERSION}",
    ...(workers.every(({ provider }) => provider === "memory") ? { placement: "Embedded" } : {}),
    podCidrs: ["${POD_CIDR:=10.244.0.0/16}"],
    serviceCidrs: ["${SERVICE_CIDR:=10.96.0.0/16}"],
    labels: {},
    workers: workers.map(({ name, provider }) => group(name, provider)),
  });
  return objects
    .map((object) => {
      const mine = workers.find(({ name }) => object.metadata.name === `\${CLUSTER_NAME}-${name}`);
      const text = toYaml(withoutPlan(object));
      // A number in the plan, a variable in the text: YAML would put it in quotes.
      return mine === undefined ? text : text.replace(/^ {2}replicas: 0$/m, () => `  replicas: ${mine.count}`);
    })
    .join("---\n");
}

function group(name: string, provider: ProviderName): WorkerGroup {
  const settings: Record<string, string> = provider === "metal3" ? { image: "${IMAGE_URL}", format: "live-iso" } : {};
  return { name, provider, replicas: 0, select: {}, settings };
}

/** The plan is of one cluster, and this is of many. */
function withoutPlan(object: Unstructured): Unstructured {
  const { annotations, ...metadata } = object.metadata;
  const { [PLAN_ANNOTATION]: _plan, ...left } = annotations ?? {};
  return { ...object, metadata: { ...metadata, ...(Object.keys(left).length === 0 ? {} : { annotations: left }) } };
}
