import type { Condition, Unstructured } from "@capstan/apimachinery";
import { describe, expect, it } from "vitest";
import { startNamespaceDeletion } from "./namespace-deletion.ts";
import { CONFIG_MAPS, configMap, type Harness, harness, NAMESPACES } from "./testing/harness.ts";

const SECRETS = { group: "", plural: "secrets" };

async function start(): Promise<Harness> {
  const h = await harness(startNamespaceDeletion);
  await h.api.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } }, "test");
  return h;
}

function conditionsOf(h: Harness): Record<string, string> {
  const status = h.api.get(NAMESPACES, "", "team")?.["status"] as { conditions?: Condition[] } | undefined;
  return Object.fromEntries((status?.conditions ?? []).map((c) => [c.type, `${c.status} ${c.reason}: ${c.message}`]));
}

describe("namespace deletion", () => {
  it("removes everything inside and then the namespace", async () => {
    const h = await start();
    await h.api.create(CONFIG_MAPS, configMap("a", { namespace: "team" }), "test");
    await h.api.create(
      SECRETS,
      { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "team" } },
      "test",
    );
    await h.api.create(CONFIG_MAPS, configMap("other"), "test");
    await h.api.delete(NAMESPACES, "", "team");
    await h.settled();
    expect(h.api.get(NAMESPACES, "", "team")).toBeUndefined();
    expect(h.api.list(CONFIG_MAPS).map((o) => o.metadata.name)).toEqual(["other"]);
    expect(h.api.list(SECRETS)).toEqual([]);
    expect(h.errors).toEqual([]);
    expect(h.clock.nextTimer()).toBeUndefined();
  });

  it("reports what blocks it with upstream's messages, and continues by itself", async () => {
    const h = await start();
    const held = configMap("held", { namespace: "team", finalizers: ["example.test/hold"] });
    await h.api.create(CONFIG_MAPS, held, "test");
    await h.api.delete(NAMESPACES, "", "team");
    await h.settled();
    expect(conditionsOf(h)).toEqual({
      NamespaceDeletionDiscoveryFailure: "False ResourcesDiscovered: All resources successfully discovered",
      NamespaceDeletionGroupVersionParsingFailure:
        "False ParsedGroupVersions: All legacy kube types successfully parsed",
      NamespaceDeletionContentFailure:
        "False ContentDeleted: All content successfully deleted, may be waiting on finalization",
      NamespaceContentRemaining:
        "True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances",
      NamespaceFinalizersRemaining:
        "True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.test/hold in 1 resource instances",
    });
    const before = h.writes();
    await h.clock.advance(3_600_000);
    expect(h.writes()).toBe(before);
    await h.api.update(CONFIG_MAPS, "team", "held", "test", (object: Unstructured) => {
      delete object.metadata.finalizers;
    });
    await h.settled();
    expect(h.api.get(NAMESPACES, "", "team")).toBeUndefined();
  });

  it("completes a deletion that was in progress when the server stopped", async () => {
    const h = await harness(startNamespaceDeletion, {
      prepare: async (api) => {
        await api.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } }, "test");
        await api.create(CONFIG_MAPS, configMap("a", { namespace: "team" }), "test");
        await api.delete(NAMESPACES, "", "team");
      },
    });
    expect(h.api.get(NAMESPACES, "", "team")).toBeUndefined();
  });
});
