import assert from "node:assert/strict";
import { ApiError, deepCopy, type Unstructured } from "@capstan/apimachinery";
import { field } from "../contract/fields.ts";
import type { Harness } from "./harness.ts";
import type { HarnessCase } from "./machine-cases.ts";
import { type ContractSubject, type MachineSubject, machinesOf } from "./types.ts";

/** What holds for the kinds themselves. */
export function kindCases(subject: ContractSubject): HarnessCase[] {
  const machines = machinesOf(subject);
  return [
    {
      name: "every kind has the contract's label, name and status subresource",
      run: async (h) => {
        for (const kind of h.world.provider().kinds) {
          const crd = kind.crd();
          assert.equal(crd.metadata.name, `${kind.kind.toLowerCase()}s.${kind.group}`);
          assert.ok(
            crd.metadata.labels?.["cluster.x-k8s.io/v1beta2"]?.split("_").includes(kind.version),
            crd.metadata.name,
          );
          const versions = field(crd, "spec", "versions");
          assert.ok(Array.isArray(versions));
          for (const version of versions) assert.ok(field(version, "subresources", "status") !== undefined);
        }
      },
    },
    ...(machines === undefined ? [] : templateCases(machines)),
  ];
}

function templateCases(machines: MachineSubject): HarnessCase[] {
  const created = async (h: Harness): Promise<Unstructured> => {
    const template = machines.template("t1");
    return await h.client.create({ ...template, metadata: { ...template.metadata, namespace: "default" } });
  };
  return [
    {
      name: "a template cannot change, and the refusal names the field",
      run: async (h) => {
        const template = await created(h);
        const changed = machines.changedTemplate(deepCopy(template));
        await assert.rejects(h.client.update(changed), (error: unknown) => {
          assert.ok(error instanceof ApiError && error.status.code === 422, String(error));
          assert.match(error.message, /spec\.template/);
          return true;
        });
      },
    },
    {
      name: "labels of a template may change, and a topology may ask what a change would do",
      run: async (h) => {
        const template = await created(h);
        await h.client.patch(template, { metadata: { labels: { a: "b" } } });
        const asked = machines.changedTemplate(deepCopy(await h.must(template)));
        asked.metadata.annotations = { "topology.cluster.x-k8s.io/dry-run": "" };
        await h.client.update(asked, { dryRun: true });
        await assert.rejects(h.client.update(asked), /is immutable/, "the annotation alone allows nothing");
      },
    },
  ];
}
