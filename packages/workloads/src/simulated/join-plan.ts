import { type Clock, isObject } from "@capstan/apimachinery";
import { readForeignYaml, readForeignYamlDocuments } from "@capstan/apimachinery/foreign";
import { type BootstrapData, field, type NodeTaint } from "@capstan/capi";
import { readCloudConfig } from "@capstan/userdata";

/** The join settings in bootstrap data: API endpoint, token and node name. */
export interface JoinPlan {
  /** `host:port` of the API. */
  readonly endpoint: string;
  readonly token: string;
  readonly caCertHashes: readonly string[];
  readonly nodeName: string;
  readonly taints: readonly NodeTaint[];
  /** What `nodeRegistration.kubeletExtraArgs` hands the kubelet, e.g. `node-labels` and `provider-id`. */
  readonly kubeletArgs: Readonly<Record<string, string>>;
}

const JOIN_FILES = ["/run/kubeadm/kubeadm-join-config.yaml", "/etc/kubeadm.yml"];

/** What kubeadm needs has some kilobytes, and no machine of these is real. It holds for what is packed in it, too. */
const MAX_BYTES = 64 * 1024;

/** Extracts the kubeadm join configuration from bootstrap data; throws when there is none. */
export async function joinPlan(
  data: BootstrapData,
  hostname: string,
  clock: Clock,
  metadata: Readonly<Record<string, unknown>> = {},
): Promise<JoinPlan> {
  if (data.bytes.length > MAX_BYTES)
    throw new Error(`the bootstrap data has more than ${MAX_BYTES} bytes, too many for a simulated machine`);
  const text = Buffer.from(data.bytes).toString("utf8");
  const limits = { clock, maxBytes: MAX_BYTES };
  const files =
    data.format === "ignition" ? ignitionFiles(text) : await cloudConfigFiles(text, hostname, metadata, limits);
  const content = JOIN_FILES.map((path) => files.get(path)).find((found) => found !== undefined);
  if (content === undefined)
    throw new Error(`the bootstrap data holds none of ${JOIN_FILES.join(", ")}: only workers can be simulated`);
  const documents = await readForeignYamlDocuments(content, limits);
  const join = documents.find((document) => field(document, "kind") === "JoinConfiguration");
  const endpoint = field(join, "discovery", "bootstrapToken", "apiServerEndpoint");
  const token = field(join, "discovery", "bootstrapToken", "token");
  if (typeof endpoint !== "string" || typeof token !== "string")
    throw new Error("the JoinConfiguration has no discovery.bootstrapToken with apiServerEndpoint and token");
  const name = field(join, "nodeRegistration", "name");
  return {
    endpoint,
    token,
    caCertHashes: listOf(field(join, "discovery", "bootstrapToken", "caCertHashes")).filter(isText),
    nodeName: isText(name) && name !== "" ? name : hostname,
    taints: listOf(field(join, "nodeRegistration", "taints")).filter(isObject) as unknown as NodeTaint[],
    kubeletArgs: argumentsOf(field(join, "nodeRegistration", "kubeletExtraArgs")),
  };
}

async function cloudConfigFiles(
  text: string,
  hostname: string,
  more: Readonly<Record<string, unknown>>,
  limits: { clock: Clock; maxBytes: number },
): Promise<Map<string, string>> {
  const metadata = { local_hostname: hostname, "local-hostname": hostname, hostname, name: hostname, ...more };
  const read = (yaml: string): Promise<unknown> => readForeignYaml(yaml, limits);
  const { writeFiles } = await readCloudConfig(text, read, { metadata, maxFileBytes: MAX_BYTES });
  return new Map(writeFiles.map(({ path, content }) => [path, content.toString("utf8")]));
}

function ignitionFiles(text: string): Map<string, string> {
  const files = listOf(field(JSON.parse(text), "storage", "files"));
  return new Map(
    files.flatMap((file): [string, string][] => {
      const path = field(file, "path");
      const source = field(file, "contents", "source");
      return isText(path) && isText(source) ? [[path, dataUrl(source)]] : [];
    }),
  );
}

function dataUrl(source: string): string {
  const comma = source.indexOf(",");
  const body = source.slice(comma + 1);
  return source.slice(0, comma).endsWith(";base64")
    ? Buffer.from(body, "base64").toString("utf8")
    : decodeURIComponent(body);
}

/** A list of names and values since v1beta4, a map before. */
function argumentsOf(value: unknown): Record<string, string> {
  const pairs = Array.isArray(value)
    ? value.map((entry): [unknown, unknown] => [field(entry, "name"), field(entry, "value")])
    : Object.entries(isObject(value) ? value : {});
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => pair.every(isText)));
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
