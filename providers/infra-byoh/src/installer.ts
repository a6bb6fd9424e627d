import { ownerReference, parseGroupVersion } from "@capstan/apimachinery";
import {
  type ContractObject,
  field,
  type Machine,
  type Outcome,
  objectFromTemplate,
  templatedKind,
  trouble,
  wait,
} from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import type { ByoMachine } from "./kinds/byo-machine.ts";

/** On an installer: the Kubernetes version it is for, as upstream's installers read it. */
export const VERSION_ANNOTATION = "byoh.infrastructure.cluster.x-k8s.io/k8sversion";
/** An installer of another maker is not watched. */
const RECHECK_MS = 5_000;

/** Makes the installer that a machine asks for and returns the name of the Secret it made, or what is waited for. Any kind will do that says `status.ready` and `status.installationSecret`. */
export async function ensureInstaller(
  object: ByoMachine,
  machine: Machine,
  client: Client,
  signal: AbortSignal,
): Promise<string | Outcome> {
  const reference = object.spec?.installerRef;
  const { namespace = "", name = "" } = object.metadata;
  const kind = reference === undefined ? undefined : templatedKind(reference.kind);
  if (reference === undefined || kind === undefined)
    return trouble(
      "InstallerInvalid",
      `installerRef must name a template, such as a K8sInstallerConfigTemplate, not ${reference?.kind}`,
    );
  const existing = await client.get(kindOf(reference.apiVersion, kind), { namespace, name }, signal);
  if (existing === undefined) {
    const at = { namespace: reference.namespace ?? namespace, name: reference.name };
    const template = await client.get(kindOf(reference.apiVersion, reference.kind), at, signal);
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
        `there is no ${reference.kind} ${at.namespace}/${at.name}: create it`,
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
    `waiting for ${kind} ${name} to say how Kubernetes is installed${said === "" ? "" : `: ${said}`}`,
    RECHECK_MS,
  );
}

/** By the rule that all such kinds follow. */
function kindOf(
  apiVersion: string,
  kind: string,
): { group: string; version: string; kind: string; plural: string; namespaced: true; __type?: ContractObject } {
  const { group, version } = parseGroupVersion(apiVersion);
  return { group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced: true };
}
