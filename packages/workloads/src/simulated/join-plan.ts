import { type Clock, isObject, type JsonObject } from "@capstan/apimachinery";
import { readForeignYaml, readForeignYamlDocuments } from "@capstan/apimachinery/foreign";
import { type BootstrapData, field, type NodeTaint } from "@capstan/capi";
import { readCloudConfig } from "@capstan/userdata";

/** The join settings in bootstrap data: API endpoint, token and node name. */
export interface JoinPlan extends Registration {
  /** `host:port` of the API. */
  readonly endpoint: string;
  readonly token: string;
  readonly caCertHashes: readonly string[];
}

/** How a machine registers its Node. */
export interface Registration {
  readonly nodeName: string;
  readonly taints: readonly NodeTaint[];
  /** Taints are an empty list, so that not even the default one of control plane machines is set. */
  readonly noTaints?: boolean;
  /** What `nodeRegistration.kubeletExtraArgs` hands the kubelet, e.g. `node-labels` and `provider-id`. */
  readonly kubeletArgs: Readonly<Record<string, string>>;
}

const JOIN_FILES = ["/run/kubeadm/kubeadm-join-config.yaml", "/etc/kubeadm.yml"];
const INIT_FILES = ["/run/kubeadm/kubeadm.yaml", "/etc/kubeadm.yml"];

/** The certificate authority of a cluster in the bootstrap data of its control plane machines. */
export interface PlaneAuthority {
  readonly certPem: string;
  readonly keyPem: string;
}

/** What bootstrap data makes a machine run. */
export type KubeadmPlan =
  | InitPlan
  /** With an authority, the machine joins as a member of the control plane. */
  | ({ readonly type: "join"; readonly authority: PlaneAuthority | undefined } & JoinPlan);

/** The settings of `kubeadm init` in bootstrap data. */
export interface InitPlan extends Registration {
  readonly type: "init";
  readonly authority: PlaneAuthority;
  /** The ClusterConfiguration as it is written. */
  readonly configuration: JsonObject;
  readonly skipPhases: readonly string[];
}

/** What kubeadm needs has some kilobytes, and no machine of these is real. It holds for what is packed in it, too. */
const MAX_BYTES = 64 * 1024;

/** Extracts the kubeadm configuration from bootstrap data; throws when there is none. */
export async function kubeadmPlan(
  data: BootstrapData,
  hostname: string,
  clock: Clock,
  metadata: Readonly<Record<string, unknown>> = {},
): Promise<KubeadmPlan> {
  if (data.bytes.length > MAX_BYTES)
    throw new Error(`the bootstrap data has more than ${MAX_BYTES} bytes, too many for a simulated machine`);
  const text = Buffer.from(data.bytes).toString("utf8");
  const limits = { clock, maxBytes: MAX_BYTES };
  const files =
    data.format === "ignition" ? ignitionFiles(text) : await cloudConfigFiles(text, hostname, metadata, limits);
  const paths = [...new Set([...JOIN_FILES, ...INIT_FILES])];
  const content = paths.map((path) => files.get(path)).find((found) => found !== undefined);
  if (content === undefined) throw new Error(`the bootstrap data contains none of ${paths.join(", ")}`);
  const documents = await readForeignYamlDocuments(content, limits);
  const of = (kind: string): unknown => documents.find((document) => field(document, "kind") === kind);
  const join = of("JoinConfiguration");
  const configuration = of("ClusterConfiguration");
  if (join === undefined && isObject(configuration)) {
    const init = of("InitConfiguration");
    const authority = authorityIn(files);
    if (authority === undefined)
      throw new Error(
        "the bootstrap data contains no ca.crt with its ca.key: kubeadm init would make an own authority",
      );
    const skipPhases = listOf(field(init, "skipPhases")).filter(isText);
    return { type: "init", ...registrationIn(init, hostname), authority, configuration, skipPhases };
  }
  const endpoint = field(join, "discovery", "bootstrapToken", "apiServerEndpoint");
  const token = field(join, "discovery", "bootstrapToken", "token");
  if (typeof endpoint !== "string" || typeof token !== "string")
    throw new Error("the JoinConfiguration has no discovery.bootstrapToken with apiServerEndpoint and token");
  const authority = isObject(field(join, "controlPlane")) ? authorityIn(files) : undefined;
  if (authority === undefined && isObject(field(join, "controlPlane")))
    throw new Error("the bootstrap data contains no ca.crt with its ca.key, which a control plane machine needs");
  return {
    type: "join",
    authority,
    endpoint,
    token,
    caCertHashes: listOf(field(join, "discovery", "bootstrapToken", "caCertHashes")).filter(isText),
    ...registrationIn(join, hostname),
  };
}

/** Extracts the kubeadm join configuration of a worker from bootstrap data; throws when there is none. */
export async function joinPlan(
  data: BootstrapData,
  hostname: string,
  clock: Clock,
  metadata: Readonly<Record<string, unknown>> = {},
): Promise<JoinPlan> {
  const plan = await kubeadmPlan(data, hostname, clock, metadata);
  if (plan.type === "init" || plan.authority !== undefined)
    throw new Error("the bootstrap data is of a control plane machine: only workers can be simulated here");
  return plan;
}

function registrationIn(configuration: unknown, hostname: string): Registration {
  const name = field(configuration, "nodeRegistration", "name");
  const taints = field(configuration, "nodeRegistration", "taints");
  return {
    nodeName: isText(name) && name !== "" ? name : hostname,
    taints: listOf(taints).filter(isObject) as unknown as NodeTaint[],
    noTaints: Array.isArray(taints) && taints.length === 0,
    kubeletArgs: argumentsOf(field(configuration, "nodeRegistration", "kubeletExtraArgs")),
  };
}

function authorityIn(files: ReadonlyMap<string, string>): PlaneAuthority | undefined {
  // The folder is a setting; only the one of the cluster's own authority also has the key of service accounts.
  const folder = [...files.keys()].find((path) => path.endsWith("/sa.pub"))?.slice(0, -"/sa.pub".length);
  const [certPem, keyPem] = [files.get(`${folder}/ca.crt`), files.get(`${folder}/ca.key`)];
  return certPem === undefined || keyPem === undefined ? undefined : { certPem, keyPem };
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
