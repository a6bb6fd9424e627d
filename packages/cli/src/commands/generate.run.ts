import { writeFile } from "node:fs/promises";
import type { Unstructured } from "@capstan/apimachinery";
import { builtInTemplate, ConfigMap, templateFlavors, workerOptions } from "@capstan/capi";
import { type CommandInput, UserError, usageError } from "../command.ts";
import { withTarget } from "../context/with-cluster.ts";
import { documentsOf, joinYaml, readSource } from "../manifests.ts";
import { textOption } from "../options.ts";
import { providersOf } from "../providers.ts";
import { fillTemplate, type LookUp, templateVariables } from "../template/process.ts";
import { variableValues } from "../template/variables.ts";

/** Runs `capstan generate yaml`: substitutes the variables of a template, or lists them. */
export async function runGenerateYaml(input: CommandInput): Promise<number> {
  const template = await readSource(input, textOption(input, "from") ?? "-");
  if (input.options["listVariables"] === true) {
    const names = [...templateVariables(template).keys()];
    if (names.length > 0) input.io.out(`Variables:\n${names.map((name) => `  - ${name}\n`).join("")}`);
    return 0;
  }
  const lookUp = await variableValues(input.io.env, textOption(input, "config"));
  input.io.out(joinYaml(documentsOf(fillTemplate(template, lookUp))));
  return 0;
}

/** Runs `capstan generate cluster`: renders a cluster template from a provider, file, URL or ConfigMap, or lists its variables. */
export async function runGenerateCluster(input: CommandInput): Promise<number> {
  const [name = ""] = input.arguments;
  const namespace = textOption(input, "targetNamespace") ?? "default";
  const template = await clusterTemplate(input, namespace);
  const environment = await variableValues(input.io.env, textOption(input, "config"));
  const set: Record<string, string | undefined> = {
    CLUSTER_NAME: name,
    NAMESPACE: namespace,
    KUBERNETES_VERSION: textOption(input, "kubernetesVersion"),
    CONTROL_PLANE_MACHINE_COUNT: count(input, "controlPlaneMachineCount"),
    WORKER_MACHINE_COUNT: count(input, "workerMachineCount"),
    CLUSTER_CLASS_NAMESPACE:
      textOption(input, "targetNamespace") ?? environment("CLUSTER_CLASS_NAMESPACE") ?? namespace,
  };
  const fallback: Record<string, string> = { CONTROL_PLANE_MACHINE_COUNT: "1", WORKER_MACHINE_COUNT: "0" };
  const lookUp: LookUp = (variable) => set[variable] ?? environment(variable) ?? fallback[variable];
  if (input.options["listVariables"] === true) {
    input.io.out(variableList(template, lookUp, Object.keys(set)));
    return 0;
  }
  const objects = documentsOf(fillTemplate(template, lookUp)).map((object) => inNamespace(object, namespace));
  const text = joinYaml(objects);
  const file = textOption(input, "writeTo");
  if (file === undefined || file === "-") input.io.out(text);
  else await writeFile(file, text, { mode: 0o600 });
  return 0;
}

function count(input: CommandInput, option: string): string | undefined {
  const text = textOption(input, option);
  if (text !== undefined && !/^\d+$/.test(text))
    throw usageError(`${JSON.stringify(text)} is not a number of machines`);
  return text;
}

/** Where the template comes from; exactly one place. */
async function clusterTemplate(input: CommandInput, namespace: string): Promise<string> {
  const from = textOption(input, "from");
  const map = textOption(input, "fromConfigMap");
  const provider = textOption(input, "infrastructure");
  const given = [from, map, provider].filter((source) => source !== undefined);
  if (given.length !== 1)
    throw usageError(
      given.length === 0 ? "no template is given" : "several templates are given",
      "one of: -i PROVIDER, --from FILE|URL|-, --from-config-map NAME",
    );
  if (provider === undefined && textOption(input, "flavor") !== undefined)
    throw usageError("--flavor is of a provider's template", "name the provider with -i");
  if (from !== undefined) return await readSource(input, from);
  if (provider !== undefined) {
    const providers = await providersOf(input);
    const offered = [...workerOptions(providers).keys()];
    if (!offered.includes(provider))
      throw usageError(`-i: no provider ${provider}`, `providers are: ${offered.join(", ")}`);
    const flavor = textOption(input, "flavor");
    const template = builtInTemplate(provider, providers, flavor);
    if (template === undefined)
      throw usageError(
        `--flavor: ${provider} has no flavor ${flavor}`,
        `flavors are: ${templateFlavors(provider, providers).join(", ")}`,
      );
    return template;
  }
  return await withTarget(input, async ({ client }) => {
    const key = { namespace: textOption(input, "fromConfigMapNamespace") ?? namespace, name: map ?? "" };
    const object = (await client.get(ConfigMap, key)) as { data?: Record<string, string> } | undefined;
    const text = object?.data?.[textOption(input, "fromConfigMapKey") ?? "template"];
    if (text === undefined)
      throw new UserError(`ConfigMap ${key.namespace}/${key.name} does not exist or has no such key`, {
        hint: "name it with --from-config-map-namespace and --from-config-map-key",
      });
    return text;
  });
}

const CLUSTER_SCOPED =
  /^(Namespace|Node|PersistentVolume|PodSecurityPolicy|CertificateSigningRequest|MutatingWebhookConfiguration|ValidatingWebhookConfiguration|CustomResourceDefinition|StorageClass|VolumeAttachment|PriorityClass|ClusterRole|ClusterRoleBinding|APIService|ClusterIssuer|RuntimeClass|IngressClass)$/;

/** All objects of a cluster live in one namespace: `move` and many controllers rely on it. */
function inNamespace(object: Unstructured, namespace: string): Unstructured {
  if (object.kind === "Namespace") return { ...object, metadata: { ...object.metadata, name: namespace } };
  if (CLUSTER_SCOPED.test(object.kind)) return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}

function variableList(template: string, lookUp: LookUp, known: readonly string[]): string {
  const required: string[] = [];
  const optional: [string, string][] = [];
  for (const [name, standard] of templateVariables(template)) {
    const value = known.includes(name) ? lookUp(name) : undefined;
    const shown = value ?? (standard === undefined || standard.startsWith('"') ? standard : JSON.stringify(standard));
    if (shown === undefined) required.push(name);
    else optional.push([`  - ${name}`, `(defaults to ${shown})`]);
  }
  const width = Math.max(0, ...optional.map(([name]) => name.length));
  const parts = [
    ...(required.length === 0 ? [] : [`Required Variables:\n${required.map((name) => `  - ${name}\n`).join("")}`]),
    ...(optional.length === 0
      ? []
      : [`\nOptional Variables:\n${optional.map(([name, text]) => `${name.padEnd(width)}  ${text}\n`).join("")}`]),
  ];
  return `${parts.join("")}\n`;
}
