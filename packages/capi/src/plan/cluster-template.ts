import { toYaml, type Unstructured } from "@capstan/apimachinery";
import type { ProviderDescription } from "../sdk/description.ts";
import { clusterObjects, PLAN_ANNOTATION } from "./cluster-objects.ts";
import type { WorkerGroup } from "./cluster-plan.ts";
import { controlPlaneOption, onlyInMemory, workerOption } from "./worker-options.ts";

/** Workers of a template, with the variable that says how many. */
interface TemplateWorkers {
  name: string;
  provider: string;
  count: string;
}

const WORKERS = "${WORKER_MACHINE_COUNT}";
const MIXED = "mixed";
const DEFAULT = "default";

/** All templates of a clusterctl repository, by file name. */
export function clusterTemplates(providers: readonly ProviderDescription[]): Map<string, string> {
  const files = new Map<string, string>();
  const mixed: TemplateWorkers[] = [];
  for (const { name, workers, quickStart } of providers) {
    for (const [flavor, text] of Object.entries(quickStart?.flavors ?? {}))
      files.set(fileOf([quickStart?.prefix, ...(flavor === DEFAULT ? [] : [flavor])].join("-")), text);
    const { templates } = workers ?? {};
    if (templates === undefined) continue;
    files.set(fileOf(templates.flavor), plannedTemplate(name, providers));
    if (templates.mixed !== undefined)
      mixed.push({ name: templates.mixed.group, provider: name, count: templates.mixed.count });
  }
  if (mixed.length > 1) files.set(fileOf(MIXED), templateOf(mixed, providers));
  return files;
}

function fileOf(flavor: string): string {
  return `cluster-template${flavor === "" ? "" : `-${flavor}`}.yaml`;
}

/** The flavors of one provider's templates. */
export function templateFlavors(provider: string, providers: readonly ProviderDescription[]): string[] {
  const own = providers.find(({ name }) => name === provider)?.quickStart?.flavors;
  return own === undefined ? [DEFAULT] : [...Object.keys(own), controlPlaneOption(providers).name];
}

/** The template of one provider's clusters in a flavor; undefined when it has none of that name. */
export function builtInTemplate(
  provider: string,
  providers: readonly ProviderDescription[],
  flavor = DEFAULT,
): string | undefined {
  const own = providers.find(({ name }) => name === provider)?.quickStart?.flavors;
  // Of a provider with templates of its own, the flavor is named after the control plane that the others have by default.
  if (flavor === (own === undefined ? DEFAULT : controlPlaneOption(providers).name))
    return plannedTemplate(provider, providers);
  return own?.[flavor];
}

/** What `create cluster` makes, with clusterctl's variables where the answers go. */
function plannedTemplate(provider: string, providers: readonly ProviderDescription[]): string {
  return templateOf([{ name: "md-0", provider, count: WORKERS }], providers);
}

function templateOf(workers: readonly TemplateWorkers[], providers: readonly ProviderDescription[]): string {
  const plan = {
    name: "${CLUSTER_NAME}",
    namespace: "${NAMESPACE}",
    version: "${KUBERNETES_VERSION}",
    ...(onlyInMemory(workers, providers) ? { placement: controlPlaneOption(providers).inMemoryPlacement } : {}),
    podCidrs: ["${POD_CIDR:=10.244.0.0/16}"],
    serviceCidrs: ["${SERVICE_CIDR:=10.96.0.0/16}"],
    labels: {},
    workers: workers.map(({ name, provider }) => group(name, provider, providers)),
  };
  return clusterObjects(plan, providers)
    .map((object) => {
      const mine = workers.find(({ name }) => object.metadata.name === `\${CLUSTER_NAME}-${name}`);
      const text = toYaml(withoutPlan(object));
      // A number in the plan, a variable in the text: YAML would put it in quotes.
      return mine === undefined ? text : text.replace(/^ {2}replicas: 0$/m, () => `  replicas: ${mine.count}`);
    })
    .join("---\n");
}

function group(name: string, provider: string, providers: readonly ProviderDescription[]): WorkerGroup {
  const entries = Object.entries(workerOption(provider, providers).settings);
  const settings = Object.fromEntries(
    entries.flatMap(([key, { template, usual }]) => {
      const value = template ?? usual;
      return value === undefined ? [] : [[key, value]];
    }),
  );
  return { name, provider, replicas: 0, select: {}, settings };
}

/** The plan is of one cluster, and this is of many. */
function withoutPlan(object: Unstructured): Unstructured {
  const { annotations, ...metadata } = object.metadata;
  const { [PLAN_ANNOTATION]: _plan, ...left } = annotations ?? {};
  return { ...object, metadata: { ...metadata, ...(Object.keys(left).length === 0 ? {} : { annotations: left }) } };
}
