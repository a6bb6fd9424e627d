import { ownerReference, parseGroupVersion } from "@capstan/apimachinery";
import {
  type ContractObject,
  field,
  type Machine,
  type Outcome,
  objectFromTemplate,
  resolveReference,
  trouble,
  wait,
} from "@capstan/capi";
import type { Client, Kind } from "@capstan/runtime";
import type { ByoMachine } from "../kinds/byo-machine.ts";
import { K8sInstallerConfig, K8sInstallerConfigTemplate } from "../kinds/k8s-installer-config.ts";

/** Annotation on a K8sInstallerConfig: the Kubernetes version to install. Upstream's installers read the same annotation. */
export const VERSION_ANNOTATION = "byoh.infrastructure.cluster.x-k8s.io/k8sversion";
/** Templates are not watched. */
const RECHECK_MS = 5_000;

/** Creates the K8sInstallerConfig of a machine and returns the name of its Secret, or the outcome to report while it waits. */
export async function ensureInstaller(
  object: ByoMachine,
  machine: Machine,
  client: Client,
  signal: AbortSignal,
): Promise<string | Outcome> {
  const reference = object.spec?.installerRef;
  const { namespace = "", name = "" } = object.metadata;
  const at = resolveReference(object, reference ?? {}, "spec.installerRef");
  if ("problem" in at) return trouble("InstallerInvalid", at.problem);
  const version = reference === undefined ? undefined : versionOf(reference);
  if (version === undefined)
    return trouble(
      "InstallerInvalid",
      `spec.installerRef: ${reference?.apiVersion} ${reference?.kind} is not an installer; name a ${K8sInstallerConfigTemplate.kind} of ${K8sInstallerConfigTemplate.apiVersion}`,
    );
  const { kind } = K8sInstallerConfig;
  const existing = await client.get(inVersion(K8sInstallerConfig, version), { namespace, name }, signal);
  if (existing === undefined) {
    const template = await client.get(inVersion(K8sInstallerConfigTemplate, version), at, signal);
    const made =
      template === undefined
        ? undefined
        : objectFromTemplate({
            template,
            name,
            namespace,
            clusterName: machine.spec.clusterName,
            annotations: { [VERSION_ANNOTATION]: (machine.spec.version ?? "").split("+")[0] ?? "" },
            owner: ownerReference(object, { controller: true }),
          });
    if (made === undefined)
      return trouble(
        "InstallerTemplateMissing",
        `${K8sInstallerConfigTemplate.kind} ${at.namespace}/${at.name} does not exist: create it`,
        RECHECK_MS,
      );
    await client.apply(made, {}, signal);
  }
  const secret = field(existing, "status", "installationSecret", "name");
  if (field(existing, "status", "ready") === true && typeof secret === "string") return secret;
  const conditions = field(existing, "status", "conditions");
  const said = Array.isArray(conditions)
    ? conditions
        .map((condition) => field(condition, "message"))
        .filter(Boolean)
        .join("; ")
    : "";
  return wait(
    "InstallationSecretNotAvailable",
    `waiting for ${kind} ${name} to provide the installation instructions${said === "" ? "" : `: ${said}`}`,
    RECHECK_MS,
  );
}

/** The version of an installer's template that a reference names; undefined when it names something else, which the manager must not copy for a tenant. */
function versionOf({ apiVersion, kind }: { apiVersion: string; kind: string }): string | undefined {
  const { group, version } = parseGroupVersion(apiVersion);
  if (kind !== K8sInstallerConfigTemplate.kind || group !== K8sInstallerConfigTemplate.group) return undefined;
  return K8sInstallerConfigTemplate.versions.find((served) => served.name === version)?.name;
}

function inVersion(
  { group, kind, plural }: Pick<Kind, "group" | "kind" | "plural">,
  version: string,
): Kind<ContractObject> {
  return { group, version, kind, plural, namespaced: true };
}
