import { parseStrictYaml } from "@capstan/apimachinery";
import { readForeignStrictYaml } from "@capstan/apimachinery/foreign";
import { Secret, secretText } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { FILE_FLAGS } from "./components/file-flags.ts";
import { FILES_FOLDER } from "./components/files-folder.ts";
import { apiServerSettingFlags } from "./components/settings.ts";
import { canonicalFiles, type NamedFile } from "./files/canonical.ts";
import { MAX_LENGTH } from "./files/file-types.ts";
import type { HostedControlPlane, HostedControlPlaneSpec } from "./kinds/hosted-control-plane.ts";
import type { ControlPlanePlan } from "./placement/placement.ts";
import type { PlacementType } from "./planes.ts";

const COMPONENTS = ["apiServer", "controllerManager", "scheduler"] as const;
type Component = (typeof COMPONENTS)[number];

/** Returns the canonical contents of `spec.<component>.files`, which are in the spec or in Secrets of the same namespace. */
export async function readUserFiles(
  object: HostedControlPlane,
  placement: PlacementType,
  context: ReconcileContext,
): Promise<{ files: ControlPlanePlan["userFiles"] } | { problem: string }> {
  const files: ControlPlanePlan["userFiles"] = { apiServer: {}, controllerManager: {}, scheduler: {} };
  for (const component of COMPONENTS) {
    const given: Record<string, string> = {};
    for (const file of object.spec[component]?.files ?? []) {
      const source = file.contentFrom?.secret;
      if (source === undefined) {
        given[file.name] = file.content ?? "";
        continue;
      }
      const key = { namespace: object.metadata.namespace, name: source.name };
      const text = secretText(context.cache.get(Secret, key) ?? (await context.client.get(Secret, key)), source.key);
      if (text === undefined)
        return {
          problem: `spec.${component}.files: Secret ${source.name} has no key ${source.key}; create it or correct the name`,
        };
      given[file.name] = text;
    }
    const named = namedFiles(object.spec, component);
    const read = canonicalFiles(given, named, FILES_FOLDER[placement], await reader(given, context));
    if ("problem" in read) return { problem: `spec.${component}.files: ${read.problem}` };
    files[component] = read.files;
  }
  return { files };
}

/** Reads large documents in a thread first: a tenant may supply many, and parsing them would delay other control planes. */
async function reader(
  given: Readonly<Record<string, string>>,
  { clock }: ReconcileContext,
): Promise<(text: string) => unknown> {
  const documents = new Map<string, () => unknown>();
  for (const text of Object.values(given))
    if (text.length <= MAX_LENGTH && !documents.has(text))
      documents.set(
        text,
        await readForeignStrictYaml(text, { clock, maxBytes: 4 * MAX_LENGTH }).then(
          (value) => () => value,
          (error: unknown) => () => {
            throw error;
          },
        ),
      );
  return (text) => (documents.get(text) ?? (() => parseStrictYaml(text)))();
}

/** The files that flags and settings refer to: the flag decides the type of the file. */
function namedFiles(spec: HostedControlPlaneSpec, component: Component): NamedFile[] {
  const settings = component === "apiServer" ? apiServerSettingFlags(spec.apiServer, "-") : [];
  const extra = (spec[component]?.extraArgs ?? []).map(({ name, value }) => [name, value ?? ""] as const);
  return [...settings, ...extra].flatMap(([flag, value]) => {
    const type = FILE_FLAGS[component][flag.replaceAll("_", "-")];
    if (type === undefined) return [];
    return [...value.matchAll(/\$FILES\/([A-Za-z0-9._-]+)/g)].map(([, name]) => ({ name: name ?? "", type }));
  });
}
