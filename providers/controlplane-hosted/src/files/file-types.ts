import { isObject, toStrictYaml, unsafeCharacter } from "@capstan/apimachinery";
import { ADMISSION, PLUGINS } from "./admission.ts";
import { ABAC_RULE, AUDIT_POLICY, AUTHENTICATION, METRIC_LABELS, TRACING } from "./apiserver.ts";
import { LEADER_MIGRATION, RECYCLER_POD } from "./controller-manager.ts";
import { KUBECONFIG } from "./kubeconfig.ts";
import { certificates, certificatesAndKeys, isPem } from "./pem.ts";
import { SCHEDULER } from "./scheduler.ts";
import { FileRefusal, type Shape, type Surroundings } from "./shape.ts";

/** Parses a file of a type and returns its canonical text; throws FileRefusal or StrictYamlError. */
export type FileType = (text: string, around: Surroundings) => string;

/** Maximum length of a user's file; parsing a larger one would delay other control planes. */
export const MAX_LENGTH = 64 * 1024;

function parse(text: string, around: Surroundings): unknown {
  if (text.length > MAX_LENGTH) throw new FileRefusal(`is longer than ${MAX_LENGTH} characters; shorten or split it`);
  return around.read(text);
}

/** JSON, which all YAML parsers interpret the same way. */
function yaml(shape: Shape): FileType {
  return (text, around) => toStrictYaml(shape(parse(text, around), "", around));
}

/** One rule per line as JSON, as kube-apiserver reads it. */
const abac: FileType = (text, around) => {
  if (text.length > MAX_LENGTH) throw new FileRefusal(`is longer than ${MAX_LENGTH} characters; shorten or split it`);
  const unsafe = unsafeCharacter(text.replaceAll("\r\n", "\n"));
  if (unsafe !== undefined)
    throw new FileRefusal(`has the character ${unsafe}, which programs read differently; remove it`);
  return text
    .split(/\r?\n/)
    .map((line, index) => ({ line: line.trim(), index }))
    .filter(({ line }) => line !== "" && !line.startsWith("#"))
    .map(({ line, index }) => `${JSON.stringify(ABAC_RULE(rule(line, index + 1), `line ${index + 1}`, around))}\n`)
    .join("");
};

function rule(line: string, number: number): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    throw new FileRefusal(`has line ${number}, which is not JSON; correct it`);
  }
}

const KINDS: Readonly<Record<string, Shape>> = {
  AdmissionConfiguration: ADMISSION,
  AuthenticationConfiguration: AUTHENTICATION,
  Config: KUBECONFIG,
  KubeSchedulerConfiguration: SCHEDULER,
  LeaderMigrationConfiguration: LEADER_MIGRATION,
  Pod: RECYCLER_POD,
  Policy: AUDIT_POLICY,
  TracingConfiguration: TRACING,
};

/** Kinds that a field or a flag replaces. */
const CURES: Readonly<Record<string, string>> = {
  EncryptionConfiguration: "use spec.apiServer.encryption instead",
  AuthorizationConfiguration: "use --authorization-mode instead",
  EgressSelectorConfiguration: "the placement writes its own; remove it",
};

/** The type of an unreferenced file follows from its content. */
const byContent: FileType = (text, around) => {
  if (isPem(text)) return certificatesAndKeys(text);
  const value = parse(text, around);
  const kind = isObject(value) && typeof value["kind"] === "string" ? value["kind"] : "";
  const shape = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (shape !== undefined) return toStrictYaml(shape(value, "", around));
  const cure = Object.hasOwn(CURES, kind) ? CURES[kind] : undefined;
  throw new FileRefusal(
    `is not referenced by a flag and its kind is none of ${Object.keys(KINDS).join(", ")}, nor is it PEM; ${cure ?? "refer to it in a flag, or remove it"}`,
  );
};

/** File types by the name that messages use. */
export const FILE_TYPES: Readonly<Record<string, FileType>> = {
  "unreferenced file": byContent,
  "admission configuration": yaml(ADMISSION),
  "audit policy": yaml(AUDIT_POLICY),
  "authentication configuration": yaml(AUTHENTICATION),
  "authorization policy": abac,
  certificates,
  kubeconfig: yaml(KUBECONFIG),
  "leader migration configuration": yaml(LEADER_MIGRATION),
  "map of metric labels": yaml(METRIC_LABELS),
  pod: yaml(RECYCLER_POD),
  "scheduler configuration": yaml(SCHEDULER),
  "tracing configuration": yaml(TRACING),
  ...Object.fromEntries(Object.entries(PLUGINS).map(([name, shape]) => [`plugin ${name}`, yaml(shape)])),
};
