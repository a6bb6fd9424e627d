import { seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { ConfigMap, type WorkloadConnection } from "@capstan/capi";
import { signatureKey, signClusterInfo } from "@capstan/controlplane";
import { Client, silentLogger } from "@capstan/runtime";
import { expect, test } from "vitest";
import { TokenSigner } from "./token-signer.ts";

const token = (id: string, usage: string, more: Record<string, string> = {}): Unstructured => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace: "kube-system", name: `bootstrap-token-${id}` },
  type: "bootstrap.kubernetes.io/token",
  data: Object.fromEntries(
    Object.entries({
      "token-id": id,
      "token-secret": "0123456789abcdef",
      "usage-bootstrap-signing": usage,
      ...more,
    }).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
  ),
});

async function start(hosted: boolean) {
  const clock = new VirtualClock();
  const server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(1) });
  const client = new Client(server.admin(), { fieldManager: "test", clock });
  for (const name of ["kube-system", "kube-public"])
    await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const info = { namespace: "kube-public", name: "cluster-info" };
  await client.create({ apiVersion: "v1", kind: "ConfigMap", metadata: info, data: { kubeconfig: "text" } });
  const listeners = new Set<(cluster: { namespace: string; name: string }, node: undefined) => void>();
  const connection = { state: "connected", client } as unknown as WorkloadConnection;
  const stopping = new AbortController();
  const signer = new TokenSigner({
    workload: {
      get: () => connection,
      subscribe: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    isHosted: () => hosted,
    clock,
    random: seededRandom(2),
    log: silentLogger,
  });
  signer.start(stopping.signal);
  for (const listener of listeners) listener({ namespace: "default", name: "c1" }, undefined);
  await clock.advance(50);
  const signatures = async (): Promise<Record<string, string>> => {
    await clock.advance(50);
    const { kubeconfig: _text, ...rest } = (await client.get(ConfigMap, info))?.data ?? {};
    return rest;
  };
  return { client, clock, signatures, stop: () => stopping.abort() };
}

test("signs for a token as soon as it appears, as kube-controller-manager would", async () => {
  const { client, signatures, stop } = await start(true);
  await client.create(token("abcdef", "true"));
  expect(await signatures()).toEqual({
    [signatureKey("abcdef")]: signClusterInfo("text", "abcdef", "0123456789abcdef"),
  });
  stop();
  await client.create(token("zzzzzz", "true"));
  expect(Object.keys(await signatures())).toEqual([signatureKey("abcdef")]);
});

test("ignores tokens that are not for signing, and clusters of other control planes", async () => {
  const own = await start(true);
  await own.client.create(token("abcdef", "false"));
  expect(await own.signatures()).toEqual({});
  const foreign = await start(false);
  await foreign.client.create(token("abcdef", "true"));
  expect(await foreign.signatures()).toEqual({});
  own.stop();
  foreign.stop();
});

test("does not sign for an expired token or one with an unparsable expiry", async () => {
  const { client, clock, signatures, stop } = await start(true);
  const at = (ms: number): string => new Date(clock.now() + ms).toISOString();
  await client.create(token("aaaaaa", "true", { expiration: at(-1000) }));
  await client.create(token("bbbbbb", "true", { expiration: "soon" }));
  await client.create(token("cccccc", "true", { expiration: at(60_000) }));
  expect(Object.keys(await signatures())).toEqual([signatureKey("cccccc")]);
  stop();
});
