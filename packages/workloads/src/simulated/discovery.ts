import { createHmac } from "node:crypto";
import type { Clock, Transport } from "@capstan/apimachinery";
import { readForeignYaml } from "@capstan/apimachinery/foreign";
import { type ConfigMap, field } from "@capstan/capi";
import { publicKeyPin } from "@capstan/pki";
import type { ClientConfig } from "@capstan/runtime";
import type { JoinPlan } from "./join-plan.ts";

/** Opens a connection to an API server; `caCertHashes` distinguish servers that share an address. */
export type Connect = (config: ClientConfig, hint?: { caCertHashes?: readonly string[] }) => Transport;

const CLUSTER_INFO = "/api/v1/namespaces/kube-public/configmaps/cluster-info";

/** Discovers the API server and its CA anonymously, verified with the token and the pinned CA hashes, as `kubeadm join` does. */
export async function discover(
  plan: JoinPlan,
  { connect, clock }: { readonly connect: Connect; readonly clock: Clock },
  signal: AbortSignal,
): Promise<Pick<ClientConfig, "server" | "tls">> {
  const { caCertHashes } = plan;
  const anonymous = connect({ server: serverOf(plan.endpoint), tls: { insecure: true } }, { caCertHashes });
  let info: ConfigMap;
  try {
    const response = await anonymous.request({ method: "GET", path: CLUSTER_INFO }, signal);
    if (response.status !== 200) throw refusal("cluster-info", response.status);
    info = response.body as ConfigMap;
  } finally {
    await anonymous.close();
  }
  const kubeconfig = info.data?.["kubeconfig"] ?? "";
  checkSignature(info, kubeconfig, plan.token);
  const { pin, ...where } = await readInfo(kubeconfig, clock);
  if (caCertHashes.length > 0 && !caCertHashes.includes(pin))
    throw new Error("the CA in cluster-info is not the one that caCertHashes pin");
  return where;
}

type Info = Required<Pick<ClientConfig, "server" | "tls">> & { readonly pin: string };

const MAX_KNOWN = 100;
const known = new Map<string, Info>();

/** The machines of a cluster all read the same text. */
async function readInfo(kubeconfig: string, clock: Clock): Promise<Info> {
  let info = known.get(kubeconfig);
  if (info === undefined) {
    info = await parseInfo(kubeconfig, clock);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(kubeconfig, info);
  }
  return info;
}

const MAX_INFO_BYTES = 16 * 1024;

async function parseInfo(kubeconfig: string, clock: Clock): Promise<Info> {
  const cluster = field(await readForeignYaml(kubeconfig, { clock, maxBytes: MAX_INFO_BYTES }), "clusters");
  const entry = field(Array.isArray(cluster) ? cluster[0] : undefined, "cluster");
  const server = field(entry, "server");
  const caPem = Buffer.from(String(field(entry, "certificate-authority-data") ?? ""), "base64").toString("utf8");
  const serverName = field(entry, "tls-server-name");
  if (typeof server !== "string" || caPem === "") throw new Error("cluster-info contains no server or no CA");
  const tls = { caPem, ...(typeof serverName === "string" ? { serverName } : {}) };
  return { server, tls, pin: publicKeyPin(caPem) };
}

function checkSignature(info: ConfigMap, kubeconfig: string, token: string): void {
  const [id = "", secret = ""] = token.split(".");
  const signature = info.data?.[`jws-kubeconfig-${id}`];
  if (signature === undefined) throw new Error(`cluster-info has no signature for token ${id} (yet)`);
  const [header = "", , given = ""] = signature.split(".");
  const made = createHmac("sha256", secret)
    .update(`${header}.${Buffer.from(kubeconfig).toString("base64url")}`)
    .digest("base64url");
  if (made !== given) throw new Error(`the signature of cluster-info does not match token ${id}`);
}

/** The server of `host:port`. With a path or a query it would lead to any page of that server. */
function serverOf(endpoint: string): string {
  const server = `https://${endpoint}`;
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || /[/?#@\\]/.test(endpoint))
    throw new Error("apiServerEndpoint of the JoinConfiguration is not an address like 10.0.0.1:6443");
  return url.origin;
}

/** Describes a server's error without its message: bootstrap data may name any server, and the error ends up in a condition. */
export function refusal(what: string, status: number): Error {
  return new Error(`${what} cannot be read: the server answered ${status}`);
}
