import type { Unstructured } from "@capstan/apimachinery";
import { ConfigMap, type KubeadmControlPlane } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { describe, expect, test } from "vitest";
import { recorded } from "../testing/upstream-decisions.ts";
import { workloadWorld } from "../testing/workload-world.ts";
import { type AddonController, AddonDaemonSet, AddonDeployment } from "./addon-kinds.ts";
import { updateCoreDns } from "./core-dns.ts";
import { updateKubeProxy } from "./kube-proxy.ts";
import { ensurePermissions } from "./permissions.ts";

type ConfigMaps = readonly { name?: string; metadata?: { name: string }; data: Record<string, string> }[];

interface Case {
  readonly name: string;
  readonly question: {
    readonly ask: string;
    readonly controlPlane: KubeadmControlPlane;
    readonly configMaps?: ConfigMaps;
    readonly deployment?: AddonController;
    readonly daemonSet?: AddonController;
  };
  readonly answer: {
    readonly configMaps?: ConfigMaps;
    readonly deployment?: AddonController["spec"];
    readonly images?: readonly string[];
    readonly bindings?: readonly object[];
    readonly error?: string;
  };
}

const { cases } = recorded<{ cases: Case[] }>("workload");
const asked = (ask: string): [string, Case][] =>
  cases.filter(({ question }) => question.ask === ask).map((each) => [each.name, each]);
const { signal } = new AbortController();

/** Where we differ from upstream on purpose. */
const DIFFERENCES: readonly { readonly cases: RegExp; readonly reason: string }[] = [
  {
    cases: /^CoreDNS 1\.(1\.3|3\.1|6\.2|6\.7|7\.0) to|renamed image below 1\.8/,
    reason: "Corefiles older than 1.8.3 (Kubernetes 1.22) are left to a person, and the condition says so.",
  },
  {
    cases: /^CoreDNS: a Corefile that cannot be read/,
    reason: "What is not understood of a Corefile stays as it is; upstream rewrites it.",
  },
  {
    cases: /^CoreDNS: renamed image$/,
    reason: "An image below CoreDNS 1.8.3, as above.",
  },
  {
    cases: /^kube-proxy kube-proxy/,
    reason: "An image without repository and tag is reported: docker.io has no kube-proxy of a cluster.",
  },
];
const isKnown = (name: string): boolean => DIFFERENCES.some((each) => each.cases.test(name));

const labels = { app: "addon" };

/** A controller that the API accepts: the recording has only what the decision reads. */
function whole(kind: string, { metadata, spec }: AddonController): Unstructured {
  const template = { ...spec?.template, metadata: { labels } };
  return {
    apiVersion: "apps/v1",
    kind,
    metadata,
    spec: { ...spec, selector: { matchLabels: labels }, template },
  } as unknown as Unstructured;
}

const imagesOf = (spec: AddonController["spec"]): (string | undefined)[] =>
  (spec?.template?.spec?.containers ?? []).map(({ image }) => image);

/** Upstream rewrites a Corefile with other indentation; ours keeps the text. */
const wordsOf = (corefile: string | undefined): string | undefined => corefile?.trim().split(/\s+/).join(" ");

describe("upstream's answers about CoreDNS", () => {
  test.each(asked("coreDNS"))("%s", async (name, { question, answer }) => {
    const { client } = await workloadWorld();
    for (const { metadata, data } of question.configMaps ?? [])
      await client.create({ apiVersion: "v1", kind: "ConfigMap", metadata, data } as Unstructured);
    if (question.deployment !== undefined) await client.create(whole("Deployment", question.deployment));
    const refused = (await updateCoreDns(client, question.controlPlane, signal)) !== undefined;
    const key = { namespace: "kube-system", name: "coredns" };
    const ours = {
      images: imagesOf((await client.get(AddonDeployment, key))?.spec),
      corefile: wordsOf((await client.get(ConfigMap, key))?.data?.["Corefile"]),
      refused,
    };
    const upstream = {
      images: imagesOf(answer.deployment),
      corefile: wordsOf(answer.configMaps?.find((each) => each.name === "coredns")?.data["Corefile"]),
      refused: answer.error !== undefined,
    };
    if (isKnown(name)) expect(ours).not.toEqual(upstream);
    else expect(ours).toEqual(upstream);
  });
});

describe("upstream's answers about kube-proxy", () => {
  test.each(asked("kubeProxy"))("%s", async (name, { question, answer }) => {
    const { client } = await workloadWorld();
    if (question.daemonSet !== undefined) await client.create(whole("DaemonSet", question.daemonSet));
    const refused = (await updateKubeProxy(client, question.controlPlane, signal)) !== undefined;
    const found = await client.get(AddonDaemonSet, { namespace: "kube-system", name: "kube-proxy" });
    const ours = { images: imagesOf(found?.spec), refused };
    const upstream = { images: answer.images ?? [], refused: answer.error !== undefined };
    if (isKnown(name)) expect(ours).not.toEqual(upstream);
    else expect(ours).toEqual(upstream);
  });
});

test.each(asked("permissions"))("gives kubeadm the permissions that upstream gives it: %s", async (_, each) => {
  const { client } = await workloadWorld();
  await ensurePermissions(client, each.question.controlPlane.spec.version, signal);
  expect(await bindings(client)).toEqual(each.answer.bindings ?? []);
});

async function bindings(client: Client): Promise<object[]> {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const kind = await client.kindOf({ apiVersion, kind: "ClusterRoleBinding" } as Unstructured);
  const { items } = await client.list(kind);
  return (items as (Unstructured & { roleRef: object; subjects: { kind: string; name: string }[] })[])
    .filter(({ metadata }) => metadata.name?.startsWith("kubeadm:") === true)
    .map(({ metadata, roleRef, subjects }) => ({
      name: metadata.name,
      roleRef,
      subjects: subjects.map((subject) => ({ kind: subject.kind, name: subject.name })),
    }));
}
