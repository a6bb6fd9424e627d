import {
  type Clock,
  isReason,
  type Random,
  randomSuffix,
  sleep,
  type Transport,
  type Unstructured,
} from "@capstan/apimachinery";
import { field, type Node } from "@capstan/capi";
import { createCertificateRequest } from "@capstan/pki";
import { Client, type ClientConfig, fixedCredentials, kindRef } from "@capstan/runtime";
import { type Connect, discover, refusal } from "./discovery.ts";
import type { JoinPlan } from "./join-plan.ts";
import { readyCondition } from "./node.ts";

/** What joining needs in addition to the plan. */
export interface JoinDeps {
  readonly connect: Connect;
  readonly clock: Clock;
  readonly random: Random;
}

/** A simulated kubelet, which writes its Node once it has joined. */
export interface Kubelet {
  /** Creates the Node as described and keeps it Ready. */
  register(node: Node): Promise<void>;
  /** Whether its Node exists. */
  knows(nodeName: string): Promise<boolean>;
  /** Continues after a restart: an existing Node that is Ready is left as it is. */
  resume(node: Node): Promise<void>;
  /** Posts whether the Node is Ready. */
  post(nodeName: string, alive: boolean): Promise<void>;
}

const NodeKind = kindRef<Node>({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
const Request = kindRef<Unstructured>({
  group: "certificates.k8s.io",
  version: "v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  namespaced: false,
});
const READ_BY_KUBEADM = ["kubeadm-config", "kubelet-config"];
const FIRST_POLL_MS = 10;
const LAST_POLL_MS = 1_000;
const GIVE_UP_MS = 60_000;

/** Does what `kubeadm join` and the kubelet do: discovery, reading the configuration, and a client certificate for the token. */
export async function joinCluster(plan: JoinPlan, deps: JoinDeps, signal: AbortSignal): Promise<Kubelet> {
  const where = await discover(plan, deps, signal);
  const token = deps.connect({ ...where, credentials: fixedCredentials({ token: plan.token }) });
  try {
    for (const name of READ_BY_KUBEADM) {
      const path = `/api/v1/namespaces/kube-system/configmaps/${name}`;
      const response = await token.request({ method: "GET", path }, signal);
      if (response.status !== 200) throw refusal(name, response.status);
    }
    const client = new Client(token, { fieldManager: "kubeadm", clock: deps.clock });
    client.mapper.register(Request);
    const certificate = await clientCertificate(client, plan.nodeName, deps, signal);
    const config = { ...where, credentials: fixedCredentials(certificate) };
    return kubeletAs(() => connected(config, deps));
  } finally {
    await token.close();
  }
}

/** Creates a kubelet that uses an existing connection, because its own certificate was lost when the manager restarted. */
export function kubeletOver(client: Client): Kubelet {
  return kubeletAs(() => ({ client, close: () => Promise.resolve() }));
}

/** Creates a kubelet that connects as given, which throws while the API does not respond. */
export function kubeletAt(open: () => Transport, clock: Clock): Kubelet {
  return kubeletAs(() => over(open(), clock));
}

interface Connection {
  client: Client;
  close(): Promise<void>;
}

function connected(config: ClientConfig, deps: JoinDeps): Connection {
  return over(deps.connect(config), deps.clock);
}

function over(transport: Transport, clock: Clock): Connection {
  const client = new Client(transport, { fieldManager: "kubelet", clock });
  client.mapper.register(NodeKind);
  return { client, close: () => transport.close() };
}

function kubeletAs(open: () => Connection): Kubelet {
  const within = async (use: (client: Client) => Promise<void>): Promise<void> => {
    const connection = open();
    try {
      await use(connection.client);
    } finally {
      await connection.close();
    }
  };
  const register = (node: Node): Promise<void> =>
    within(async (client) => {
      try {
        await client.create(node);
      } catch (error) {
        if (!isReason(error, "AlreadyExists")) throw error;
        await client.patchStatus({ kind: NodeKind, name: node.metadata.name ?? "" }, { status: node.status ?? {} });
      }
    });
  const find = async (name: string): Promise<Node | undefined> => {
    let found: Node | undefined;
    await within(async (client) => {
      found = await client.get(NodeKind, { name });
    });
    return found;
  };
  return {
    register,
    knows: async (nodeName) => (await find(nodeName)) !== undefined,
    resume: async (node) => {
      const found = await find(node.metadata.name ?? "");
      const ready = found?.status?.conditions?.find(({ type }) => type === "Ready");
      if (ready?.status !== "True") await register(node);
    },
    post: (nodeName, alive) =>
      within(async (client) => {
        const node = await client.get(NodeKind, { name: nodeName });
        if (node === undefined) return;
        const others = (node.status?.conditions ?? []).filter(({ type }) => type !== "Ready");
        const conditions = [...others, readyCondition(alive, node.metadata.creationTimestamp ?? "")];
        await client.patchStatus({ kind: NodeKind, name: nodeName }, { status: { conditions } });
      }),
  };
}

/** Requests a certificate and waits until it is signed. */
async function clientCertificate(
  client: Client,
  nodeName: string,
  deps: JoinDeps,
  signal: AbortSignal,
): Promise<{ certPem: string; keyPem: string }> {
  const { csrPem, keyPem } = await createCertificateRequest({
    commonName: `system:node:${nodeName}`,
    organizations: ["system:nodes"],
  });
  const name = `node-csr-${nodeName.slice(0, 40)}-${randomSuffix(deps.random, 10)}`;
  await client.create<Unstructured>(
    {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name },
      spec: {
        request: Buffer.from(csrPem).toString("base64"),
        signerName: "kubernetes.io/kube-apiserver-client-kubelet",
        usages: ["digital signature", "client auth"],
      },
    },
    {},
    signal,
  );
  for (
    let waited = 0, pause = FIRST_POLL_MS;
    waited < GIVE_UP_MS;
    waited += pause, pause = Math.min(2 * pause, LAST_POLL_MS)
  ) {
    await sleep(deps.clock, pause, signal);
    const certificate = field(await client.get(Request, { name }, signal), "status", "certificate");
    if (typeof certificate === "string" && certificate !== "")
      return { certPem: Buffer.from(certificate, "base64").toString("utf8"), keyPem };
  }
  throw new Error(`the certificate signing request ${name} was not signed within a minute`);
}
