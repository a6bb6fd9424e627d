import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { clientCertificate, makeCertificates } from "./certificates.ts";
import { Component } from "./component.ts";
import { apiserverFlags, type ControlPlaneLayout, controllerManagerFlags, etcdFlags, schedulerFlags } from "./flags.ts";
import { freePorts } from "./free-ports.ts";
import { defaultKubernetesVersion, kubernetesBin } from "./kubernetes-bin.ts";
import { type CommandResult, runCommand } from "./run-command.ts";
import { temporaryDir } from "./temporary-dir.ts";

/** What to start and where; everything has a default. */
export interface KubeApiserverOptions {
  /** Folder with the programs; the one of `npm run kubernetes` by default. */
  readonly bin?: string;
  /** Folder for data, certificates and logs; must be empty. By default a temporary one that stop() removes. */
  readonly dir?: string;
  /** Address to listen on, 127.0.0.1 by default; one that nodes can reach when nodes are to join. */
  readonly address?: string;
  /** Runs kube-controller-manager too: namespaces get deleted, garbage collected, service accounts made. */
  readonly controllerManager?: boolean;
  /** Runs kube-scheduler too. */
  readonly scheduler?: boolean;
  readonly clusterName?: string;
  readonly serviceSubnet?: string;
  readonly podSubnet?: string;
  /** Flags after ours, so that they win. */
  readonly extraArgs?: {
    readonly etcd?: readonly string[];
    readonly apiserver?: readonly string[];
    readonly controllerManager?: readonly string[];
    readonly scheduler?: readonly string[];
  };
}

/** The running programs by role. */
export interface RealComponents {
  readonly etcd: Component;
  readonly apiserver: Component;
  readonly controllerManager: Component | undefined;
  readonly scheduler: Component | undefined;
}

/** A running real control plane and how to talk to it. */
export interface RealKubernetes {
  /** `https://ADDRESS:PORT` of kube-apiserver. */
  readonly server: string;
  readonly host: string;
  readonly port: number;
  readonly caFile: string;
  readonly caPem: string;
  /** Client certificate in the group system:masters. */
  readonly admin: { readonly certPem: string; readonly keyPem: string };
  /** The admin's kubeconfig. */
  readonly kubeconfigFile: string;
  readonly dir: string;
  readonly bin: string;
  /** Folder with kubeadm's files (ca.crt, ca.key, sa.key, front-proxy-ca.crt, etcd/...). */
  readonly pkiDir: string;
  readonly components: RealComponents;
  /** Runs the built kubectl as admin. */
  kubectl(...args: string[]): Promise<CommandResult>;
  /** Like kubectl, with text for its standard input (`apply -f -`). */
  kubectlWithInput(input: string, ...args: string[]): Promise<CommandResult>;
  /** Ends all programs; removes the folder if it was a temporary one. */
  stop(): Promise<void>;
}

/** Starts real etcd and kube-apiserver on free ports and waits until both serve (about 5 s on a quiet machine). */
export async function startKubeApiserver(options: KubeApiserverOptions = {}): Promise<RealKubernetes> {
  const bin = options.bin ?? kubernetesBin();
  const dir = options.dir ?? temporaryDir();
  const address = options.address ?? "127.0.0.1";
  const clusterName = options.clusterName ?? "real";
  const serviceSubnet = options.serviceSubnet ?? "10.96.0.0/16";
  const logs = join(dir, "log");
  mkdirSync(logs, { recursive: true });
  mkdirSync(join(dir, "etcd"), { recursive: true, mode: 0o700 });

  const [apiserverPort = 0] = await freePorts(1, address);
  const [etcdClient = 0, etcdPeer = 0, etcdMetrics = 0, controllerManagerPort = 0, schedulerPort = 0] =
    await freePorts(5);
  const files = await makeCertificates({
    bin,
    dir,
    kubernetesVersion: await versionOf(bin),
    address,
    port: apiserverPort,
    clusterName,
    serviceSubnet,
  });
  const layout: ControlPlaneLayout = {
    dir,
    files,
    address,
    clusterName,
    serviceSubnet,
    podSubnet: options.podSubnet ?? "10.244.0.0/16",
    ports: {
      etcdClient,
      etcdPeer,
      etcdMetrics,
      apiserver: apiserverPort,
      controllerManager: controllerManagerPort,
      scheduler: schedulerPort,
    },
  };
  const caFile = join(files.pki, "ca.crt");
  const caPem = readFileSync(caFile, "utf8");
  const extra = options.extraArgs ?? {};
  const component = (name: string, flags: readonly string[], ready: () => Promise<boolean>): Component =>
    new Component({ name, file: join(bin, name), args: flags, logFile: join(logs, `${name}.log`), ready });

  const components: RealComponents = {
    etcd: component("etcd", [...etcdFlags(layout), ...(extra.etcd ?? [])], () =>
      answers(`https://127.0.0.1:${etcdClient}/health`, {
        ca: readFileSync(join(files.pki, "etcd/ca.crt")),
        cert: readFileSync(join(files.pki, "apiserver-etcd-client.crt")),
        key: readFileSync(join(files.pki, "apiserver-etcd-client.key")),
      }),
    ),
    apiserver: component("kube-apiserver", [...apiserverFlags(layout), ...(extra.apiserver ?? [])], () =>
      answers(`https://${address}:${apiserverPort}/readyz`, { ca: caPem }),
    ),
    // Both make their own serving certificates, hence no check of them here.
    controllerManager: options.controllerManager
      ? component(
          "kube-controller-manager",
          [...controllerManagerFlags(layout), ...(extra.controllerManager ?? [])],
          () => answers(`https://127.0.0.1:${controllerManagerPort}/healthz`, { rejectUnauthorized: false }),
        )
      : undefined,
    scheduler: options.scheduler
      ? component("kube-scheduler", [...schedulerFlags(layout), ...(extra.scheduler ?? [])], () =>
          answers(`https://127.0.0.1:${schedulerPort}/healthz`, { rejectUnauthorized: false }),
        )
      : undefined,
  };

  const kubeconfigFile = join(files.kubeconfigs, "super-admin.conf");
  const admin = clientCertificate(kubeconfigFile);
  const stop = async (): Promise<void> => {
    // Dependents first. A temporary folder is thrown away, so its writers need no grace.
    const signal = options.dir === undefined ? "SIGKILL" : "SIGTERM";
    await Promise.all([components.scheduler?.kill(signal), components.controllerManager?.kill(signal)]);
    await components.apiserver.kill(signal);
    await components.etcd.kill(signal);
    if (options.dir === undefined) rmSync(dir, { recursive: true, force: true });
  };
  try {
    components.etcd.spawn();
    components.apiserver.spawn();
    await components.etcd.untilReady();
    await components.apiserver.untilReady();
    await untilNamespaces(`https://${address}:${apiserverPort}`, { ca: caPem, cert: admin.certPem, key: admin.keyPem });
    // The controller manager gives up after 10 s without an apiserver, so it comes after it.
    await Promise.all([components.controllerManager?.start(), components.scheduler?.start()]);
  } catch (error) {
    await stop();
    throw error;
  }

  const kubectlWithInput = (input: string, ...args: string[]): Promise<CommandResult> =>
    runCommand(join(bin, "kubectl"), args, { env: { KUBECONFIG: kubeconfigFile }, input });
  return {
    server: `https://${address}:${apiserverPort}`,
    host: address,
    port: apiserverPort,
    caFile,
    caPem,
    admin,
    kubeconfigFile,
    dir,
    bin,
    pkiDir: files.pki,
    components,
    kubectl: (...args) => kubectlWithInput("", ...args),
    kubectlWithInput,
    stop,
  };
}

/** The server makes its own namespaces a moment after it says it is ready; tests may count on them. */
async function untilNamespaces(server: string, tls: object): Promise<void> {
  for (const name of ["kube-system", "kube-public", "kube-node-lease", "default"])
    for (let attempt = 0; !(await answers(`${server}/api/v1/namespaces/${name}`, tls)); attempt++) {
      if (attempt === 600) throw new Error(`kube-apiserver has not made the namespace ${name} in 30 s`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

async function versionOf(bin: string): Promise<string> {
  const { stdout } = await runCommand(join(bin, "kube-apiserver"), ["--version"]);
  return /v\d+\.\d+\.\d+\S*/.exec(stdout)?.[0] ?? defaultKubernetesVersion;
}

function answers(url: string, tls: object): Promise<boolean> {
  return new Promise((resolve) => {
    const outgoing = request(url, { ...tls, agent: false, timeout: 2000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    outgoing.once("timeout", () => outgoing.destroy());
    outgoing.once("error", () => resolve(false));
    outgoing.end();
  });
}
