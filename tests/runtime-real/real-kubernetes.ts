import { systemClock, systemRandom, type Transport } from "@capstan/apimachinery";
import { Cache, Client, httpTransport, loadKubeconfig } from "@capstan/runtime";
import { type RealKubernetes, startKubeApiserver } from "../real-kubernetes/index.ts";

/** A real API server with our client on it. */
export interface RealClient {
  readonly real: RealKubernetes;
  readonly transport: Transport;
  readonly client: Client;
  cache(options?: { watchList: boolean }): Cache;
  stop(): Promise<void>;
}

/** Starts etcd and kube-apiserver and connects by the kubeconfig that kubeadm wrote. */
export async function startRealClient(): Promise<RealClient> {
  const real = await startKubeApiserver();
  const config = await loadKubeconfig({ clock: systemClock, path: real.kubeconfigFile });
  const transport = httpTransport(config, { clock: systemClock });
  const client = new Client(transport, { fieldManager: "runtime-real", clock: systemClock });
  return {
    real,
    transport,
    client,
    cache: (options) => new Cache(client, { clock: systemClock, random: systemRandom, ...options }),
    stop: async () => {
      await transport.close();
      await real.stop();
    },
  };
}

/** Waits for something to become true; these tests run in real time because the server does. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, ms = 30_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`waited ${ms} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
