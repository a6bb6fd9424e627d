import { isObject, type Unstructured } from "@capstan/apimachinery";
import { type CommandInput, UserError } from "../command.ts";
import { documentsOf, joinYaml, readSource } from "../manifests.ts";
import { textOption } from "../options.ts";
import { type Providers, providersOf } from "../providers.ts";

/** Runs `capstan convert`. */
export async function runConvert(input: CommandInput): Promise<number> {
  const objects = documentsOf(await readSource(input, textOption(input, "filename") ?? "-"));
  const providers = await providersOf(input);
  const groups = new Map(
    providers.flatMap(({ olderKinds }) => (olderKinds === undefined ? [] : [[olderKinds.group, olderKinds]])),
  );
  if (!objects.some(({ apiVersion }) => groups.has(groupOf(apiVersion))))
    throw new UserError("nothing to convert", { hint: `groups that are read: ${[...groups.keys()].join(", ")}` });
  input.io.out(
    joinYaml(objects.map((object) => converted(object, providers, (text) => input.io.err(`warning: ${text}\n`)))),
  );
  return 0;
}

function converted(object: Unstructured, providers: Providers, warn: (text: string) => void): Unstructured {
  const older = providers
    .map(({ olderKinds }) => olderKinds)
    .find((each) => each?.group === groupOf(object.apiVersion));
  const { object: result, warnings } = older?.convert(object) ?? { object, warnings: [] };
  for (const warning of warnings) warn(`${object.kind} ${object.metadata.name}: ${warning}`);
  return withReferences(result, providers);
}

/** References in the objects of other groups lead to the converted ones: older versions name an apiVersion, newer ones a group. */
function withReferences<T>(value: T, providers: Providers): T {
  if (Array.isArray(value)) return value.map((item) => withReferences(item as unknown, providers)) as T;
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, field]): [string, unknown] => {
    const older = providers.find(({ olderKinds }) => olderKinds !== undefined && olderKinds.group === groupOf(field));
    const to = older?.olderKinds?.to;
    if (to === undefined) return [name, withReferences(field, providers)];
    if (name === "apiGroup") return [name, groupOf(to)];
    return name === "apiVersion" ? [name, to] : [name, field];
  });
  return Object.fromEntries(entries) as T;
}

function groupOf(apiVersion: unknown): string {
  return typeof apiVersion === "string" ? (apiVersion.split("/")[0] ?? "") : "";
}
