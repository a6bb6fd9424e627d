import { toGoYaml } from "@capstan/apimachinery";
import type { MetaData } from "../kinds/metal3-meta-data.ts";
import { addressOf, macOfInterface, RenderError, type RenderInput, sourceOf } from "./render-input.ts";

/** Renders meta data as YAML: a flat map of strings. Later lists override earlier ones; the provider ID overrides all. */
export function renderMetaData(template: MetaData, input: RenderInput): string {
  const values = new Map<string, string>();
  for (const entry of template.fromHostInterfaces ?? []) values.set(entry.key, macOf(entry, input));
  for (const { key, name } of template.ipAddressesFromPool ?? [])
    values.set(key, addressOf(input, name, "spec.metaData.ipAddressesFromPool").address);
  for (const { key, name } of template.prefixesFromPool ?? [])
    values.set(key, String(addressOf(input, name, "spec.metaData.prefixesFromPool").prefix ?? 0));
  for (const { key, name } of template.gatewaysFromPool ?? [])
    values.set(key, addressOf(input, name, "spec.metaData.gatewaysFromPool").gateway ?? "");
  for (const { key, name } of template.dnsServersFromPool ?? [])
    values.set(key, addressOf(input, name, "spec.metaData.dnsServersFromPool").dnsServers.join(","));
  for (const { key, offset = 0, step = 1, prefix = "", suffix = "" } of template.indexes ?? [])
    values.set(key, `${prefix}${offset + input.index * step}${suffix}`);
  for (const { key } of template.namespaces ?? []) values.set(key, input.namespace);
  for (const { key, object } of template.objectNames ?? [])
    values.set(key, sourceOf(input, object).metadata.name ?? "");
  for (const { key, object, label } of template.fromLabels ?? [])
    values.set(key, sourceOf(input, object).metadata.labels?.[label] ?? "");
  for (const { key, object, annotation } of template.fromAnnotations ?? [])
    values.set(key, sourceOf(input, object).metadata.annotations?.[annotation] ?? "");
  for (const { key, value } of template.strings ?? []) values.set(key, value);
  const { metal3Machine, host } = input;
  values.set("providerid", `${metal3Machine.metadata.namespace}/${host.metadata.name}/${metal3Machine.metadata.name}`);
  return toGoYaml(Object.fromEntries(values));
}

function macOf(
  entry: NonNullable<MetaData["fromHostInterfaces"]>[number],
  { host }: Pick<RenderInput, "host">,
): string {
  const field = `spec.metaData.fromHostInterfaces[key=${entry.key}]`;
  if (entry.fromBootMAC !== true) return macOfInterface(host, entry.interface ?? "", field);
  const mac = host.spec.bootMACAddress;
  if (mac !== undefined && mac !== "") return mac;
  throw new RenderError(
    `${field}: BareMetalHost ${host.metadata.name} has no spec.bootMACAddress; set it, or name an interface`,
  );
}
