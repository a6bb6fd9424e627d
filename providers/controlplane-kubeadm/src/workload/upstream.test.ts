import { isObject, type Unstructured } from "@capstan/apimachinery";
import type { KubeadmControlPlane } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { recorded } from "../testing/upstream-decisions.ts";
import { workloadWorld } from "../testing/workload-world.ts";
import { ensureKubeadmConfig } from "./kubeadm-config.ts";

interface Question {
  readonly ask: "clusterConfiguration" | "coreDNS" | "kubeProxy" | "permissions";
  readonly controlPlane: KubeadmControlPlane;
  readonly configMaps: readonly { metadata: { name: string }; data: Record<string, string> }[];
}

interface Answer {
  readonly configMaps: readonly { name: string; data: Record<string, string> }[];
  readonly error?: string;
}

interface Case {
  readonly name: string;
  readonly question: Question;
  readonly answer: Answer;
}

const { cases } = recorded<{ cases: Case[] }>("workload");

/** Where we differ from upstream on purpose. */
const DIFFERENCES: readonly { readonly cases: RegExp; readonly reason: string }[] = [
  {
    cases: /resourceFieldRef/,
    reason: "Upstream writes the divisor 0 that Go's type has; kubeadm reads the absent one as the same.",
  },
  {
    cases: /^kubeadm-config v1beta3: .*extraArgs name removed/,
    reason: "The API refuses an argument without a name; upstream writes one whose name is empty.",
  },
  {
    cases: /^kubeadm-config v1beta3 to v1\.31.*(nothing|empty) config/,
    reason: "What kubeadm 1.30 wrote as its defaults is left to kubeadm's defaults of the newer API.",
  },
  {
    cases: /^kubeadm-config v1beta4: [a-zA-Z]+(\.local|\.external)? empty$|(nothing configured|empty configuration)$/,
    reason:
      "Without a configuration upstream leaves a feature gate that kubeadm 1.36 refuses; ours follows the version.",
  },
  {
    cases: /^kubeadm-config (edited v1beta4|: unknown field)/,
    reason:
      "Fields that neither the control plane nor upstream know stay as a person wrote them; upstream removes them.",
  },
  {
    cases: /^kubeadm-config: /,
    reason: "What cannot be read is an error for both; the message is ours, and an unknown field stays.",
  },
];

it("gives kubeadm-config the content that upstream gives it", async () => {
  const { client, clock } = await workloadWorld();
  const wrong: object[] = [];
  for (const { name, question, answer } of cases.filter(({ question: { ask } }) => ask === "clusterConfiguration")) {
    if (DIFFERENCES.some((each) => each.cases.test(name))) continue;
    const ours = await configured(client, question, clock);
    const upstream = meaning(answer.configMaps[0]?.data["ClusterConfiguration"]);
    if (JSON.stringify(ours) !== JSON.stringify(upstream)) wrong.push({ name, ours, upstream });
  }
  expect(wrong).toEqual([]);
});

async function configured(
  client: Client,
  { controlPlane, configMaps }: Question,
  clock: Parameters<typeof ensureKubeadmConfig>[2],
): Promise<unknown> {
  const [map] = configMaps;
  const object = { apiVersion: "v1", kind: "ConfigMap", ...map } as unknown as Unstructured;
  await client.create(object);
  try {
    await ensureKubeadmConfig(client, controlPlane, clock, new AbortController().signal);
    const now = (await client.get(await client.kindOf(object), {
      namespace: "kube-system",
      name: map?.metadata.name ?? "",
    })) as unknown as { data: Record<string, string> };
    return meaning(now.data["ClusterConfiguration"]);
  } finally {
    await client.delete(object);
  }
}

/** kubeadm reads absent, null and empty fields alike; the order of fields means nothing. */
function meaning(text: string | undefined): unknown {
  return canonical(parse(text ?? "")) ?? null;
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value))
    return value.length === 0 ? undefined : value.map((item: unknown) => canonical(item) ?? null);
  if (!isObject(value)) return value === null || value === "" ? undefined : value;
  const entries = Object.entries(value)
    .map(([name, inner]) => [name, canonical(inner)] as const)
    .filter(([, inner]) => inner !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
