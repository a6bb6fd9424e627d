import { type Clock, isObject } from "@capstan/apimachinery";
import { readForeignYaml } from "@capstan/apimachinery/foreign";
import { resolveReference, Secret, secretText } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import type { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { failure, type ProvisionRequest, type StepFailure } from "../provisioner/provisioner.ts";

type Found<T> = { readonly type: "found"; readonly value: T } | StepFailure;

/** Collects what a host boots: its image, and the user data, meta data and network data from its Secrets. */
export async function provisionRequest(
  client: Client,
  host: BareMetalHost,
  signal: AbortSignal,
  clock: Clock,
): Promise<Found<ProvisionRequest>> {
  const { userData, metaData, networkData, preprovisioningNetworkDataName, image, customDeploy } = host.spec;
  const user = await textOf(client, host, "userData", userData, signal);
  if (user.type === "failed") return user;
  const meta = await documentOf(clock, client, host, "metaData", metaData, signal);
  if (meta.type === "failed") return meta;
  const network =
    networkData ??
    (preprovisioningNetworkDataName === undefined ? undefined : { name: preprovisioningNetworkDataName });
  const net = await documentOf(clock, client, host, "networkData", network, signal);
  if (net.type === "failed") return net;
  const value: ProvisionRequest = {
    image,
    customDeploy: customDeploy?.method,
    configDrive: {
      userData: user.value,
      metaData: { ...defaultMetaData(host), ...meta.value },
      networkData: net.value,
    },
  };
  return { type: "found", value };
}

/** What every config drive says of its host; the Secret of metaData wins. */
function defaultMetaData(host: BareMetalHost): Record<string, string> {
  const { namespace = "", name = "", uid = "" } = host.metadata;
  return {
    uuid: uid,
    "metal3-namespace": namespace,
    "metal3-name": name,
    "local-hostname": name,
    local_hostname: name,
    name,
  };
}

async function textOf(
  client: Client,
  host: BareMetalHost,
  field: "userData" | "metaData" | "networkData",
  reference: { name?: string; namespace?: string } | undefined,
  signal: AbortSignal,
): Promise<Found<string | undefined>> {
  const name = reference?.name;
  if (name === undefined || name === "") return { type: "found", value: undefined };
  const target = resolveReference(host, { ...reference }, `spec.${field}`);
  if ("problem" in target) return failure(target.problem, { fatal: true });
  const secret = await client.get(Secret, target, signal);
  if (secret === undefined)
    return failure(`The Secret ${name} of spec.${field} does not exist: create it, or remove the field`);
  const value = secretText(secret, field) ?? secretText(secret, "value");
  if (value === undefined) return failure(`The Secret ${name} of spec.${field} has neither key ${field} nor key value`);
  return { type: "found", value };
}

const MAX_BYTES = 256 * 1024;

async function documentOf(
  clock: Clock,
  ...args: Parameters<typeof textOf>
): Promise<Found<Record<string, unknown> | undefined>> {
  const text = await textOf(...args);
  if (text.type === "failed" || text.value === undefined) return text as Found<undefined>;
  const [, , field, reference] = args;
  try {
    const value = await readForeignYaml(text.value, { clock, maxBytes: MAX_BYTES });
    if (isObject(value)) return { type: "found", value };
  } catch {
    // The parser's message may quote the document, which may hold secrets.
  }
  return failure(`The Secret ${reference?.name} of spec.${field} does not contain a YAML or JSON object`, {
    fatal: true,
  });
}
