import { parseQuantity } from "@capstan/apimachinery";
import type { HostedControlPlaneSpec } from "../kinds/hosted-control-plane.ts";
import type { Flag } from "./context.ts";

type ApiServerSettings = NonNullable<HostedControlPlaneSpec["apiServer"]>;

/** Name of the file with kube-apiserver's encryption keys. */
export const ENCRYPTION_FILE = "capstan-encryption.yaml";

/** Returns the flag that sets feature gates, the same for every component. */
export function featureGateFlags(gates: Record<string, boolean> | undefined): Flag[] {
  const entries = Object.entries(gates ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return [];
  return [["feature-gates", entries.map(([name, on]) => `${name}=${on}`).join(",")]];
}

/** Returns the flags for the settings of kube-apiserver; `auditLog` is the log path of the placement. */
export function apiServerSettingFlags(settings: ApiServerSettings | undefined, auditLog: string): Flag[] {
  if (settings === undefined) return [];
  return [
    ...featureGateFlags(settings.featureGates),
    ...oidcFlags(settings.oidc),
    ...auditFlags(settings.audit, auditLog),
    ...admissionFlags(settings.admission),
  ];
}

function oidcFlags(oidc: ApiServerSettings["oidc"]): Flag[] {
  if (oidc === undefined) return [];
  const flags: [string, string | undefined][] = [
    ["oidc-issuer-url", oidc.issuerURL],
    ["oidc-client-id", oidc.clientID],
    ["oidc-username-claim", oidc.usernameClaim],
    ["oidc-username-prefix", oidc.usernamePrefix],
    ["oidc-groups-claim", oidc.groupsClaim],
    ["oidc-groups-prefix", oidc.groupsPrefix],
    ["oidc-ca-file", fileOf(oidc.caFile)],
  ];
  return flags.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

function auditFlags(audit: ApiServerSettings["audit"], log: string): Flag[] {
  if (audit === undefined) return [];
  return [
    ["audit-policy-file", `$FILES/${audit.policyFile}`],
    ["audit-log-path", log],
    ["audit-log-maxage", String(audit.maxAgeDays ?? 30)],
    ["audit-log-maxbackup", String(audit.maxBackups ?? 10)],
    ["audit-log-maxsize", String(audit.maxSizeMiB ?? 100)],
  ];
}

function admissionFlags(admission: ApiServerSettings["admission"]): Flag[] {
  if (admission === undefined) return [];
  const config = fileOf(admission.configFile);
  return [
    // Without NodeRestriction a node could modify other nodes.
    ["enable-admission-plugins", [...new Set(["NodeRestriction", ...(admission.enable ?? [])])].join(",")],
    ...((admission.disable ?? []).length === 0
      ? []
      : ([["disable-admission-plugins", (admission.disable ?? []).join(",")]] as const)),
    ...(config === undefined ? [] : ([["admission-control-config-file", config]] as const)),
  ];
}

function fileOf(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `$FILES/${name}`;
}

/** Returns what is invalid in a component's settings, or undefined. */
export function settingsProblem(
  name: "apiServer" | "controllerManager" | "scheduler",
  settings: ApiServerSettings | undefined,
): string | undefined {
  if (settings === undefined) return undefined;
  const files = (settings.files ?? []).map((file) => file.name);
  const named = {
    "oidc.caFile": settings.oidc?.caFile,
    "audit.policyFile": settings.audit?.policyFile,
    "admission.configFile": settings.admission?.configFile,
  };
  for (const [field, file] of Object.entries(named))
    if (file !== undefined && !files.includes(file))
      return `${field} refers to ${file}, which is not in files; add it there`;
  const gate = Object.keys(settings.featureGates ?? {}).find((each) => !/^[A-Za-z][A-Za-z0-9]*$/.test(each));
  if (gate !== undefined)
    return `featureGates: ${JSON.stringify(gate)} is not the name of a feature gate like WatchList; correct it`;
  if ((settings.admission?.disable ?? []).includes("NodeRestriction"))
    return "admission.disable: NodeRestriction isolates nodes from each other and cannot be disabled; remove it there";
  const resource = settings.encryption?.resources?.find((each) => !isResource(each));
  if (resource !== undefined)
    return `encryption.resources: ${JSON.stringify(resource)} is not a resource, so nothing would be encrypted; use its plural, such as secrets, followed by .GROUP if it has one`;
  const amount = quantityProblem(settings.resources);
  if (amount !== undefined) return amount;
  const own = new Set([
    ...featureGateFlags(settings.featureGates).map(([flag]) => flag),
    ...(name === "apiServer" ? apiServerSettingFlags(settings, "-").map(([flag]) => flag) : []),
  ]);
  const twice = (settings.extraArgs ?? []).find((argument) => own.has(argument.name));
  return twice === undefined
    ? undefined
    : `extraArgs: --${twice.name} is already set by a field of its own; set it in one place`;
}

const CORE_RESOURCES =
  /^(configmaps|endpoints|events|limitranges|namespaces|nodes|persistentvolumeclaims|persistentvolumes|pods|podtemplates|replicationcontrollers|resourcequotas|secrets|serviceaccounts|services)$/;

/** kube-apiserver accepts any name of a resource to encrypt, and encrypts nothing for an unknown one. */
function isResource(name: string): boolean {
  return CORE_RESOURCES.test(name) || /^(\*|[a-z][a-z0-9]*)\.(\*|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$/.test(name);
}

/** Returns which field is not a valid quantity, or undefined. */
export function quantityProblem(
  resources: { requests?: Record<string, string>; limits?: Record<string, string> } | undefined,
): string | undefined {
  for (const [field, amounts] of Object.entries(resources ?? {}))
    for (const [name, text] of Object.entries(amounts ?? {}))
      try {
        parseQuantity(text);
      } catch {
        return `resources.${field}.${name}: ${JSON.stringify(text)} is not a quantity like 500m, 2 or 512Mi`;
      }
  return undefined;
}
