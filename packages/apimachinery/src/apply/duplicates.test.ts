import { expect, test } from "vitest";
import { deepFreeze } from "../json.ts";
import type { ManagedFieldsEntry, Unstructured } from "../object.ts";
import { applyPatch } from "./apply-patch.ts";
import { compileApplySchema } from "./apply-type.ts";
import { trackUpdate } from "./track-update.ts";

// Environment variables of containers may repeat. The steps and their outcome are those of a Deployment on a real
// kube-apiserver, reduced to the list in question.

const schema = compileApplySchema(
  {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          env: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            items: { type: "object", properties: { name: { type: "string" }, value: { type: "string" } } },
          },
        },
      },
    },
  },
  { spec: {} },
);
const base = { subresource: "", apiVersion: "t/v1", nowTime: "2026-01-01T00:00:00Z", schema };
type Env = { name: string; value: string }[];

const variable = (name: string, value: string) => ({ name, value });
const objectOf = (env: Env): Unstructured => ({
  apiVersion: "t/v1",
  kind: "W",
  metadata: { name: "w" },
  spec: { env },
});
const owners = (entries: ManagedFieldsEntry[] | undefined): Record<string, unknown> =>
  Object.fromEntries(
    (entries ?? []).map((e) => [e.manager, (e.fieldsV1 as { "f:spec": { "f:env": unknown } })["f:spec"]["f:env"]]),
  );

const ITEM = { ".": {}, "f:name": {}, "f:value": {} };
const [X, Y, Z] = ['k:{"name":"X"}', 'k:{"name":"Y"}', 'k:{"name":"Z"}'];

test("duplicates are owned as one; becoming one, or ceasing to be, changes hands", () => {
  let live: Unstructured | undefined;
  const write = (manager: string, env: Env): Record<string, unknown> => {
    const next = objectOf(env);
    const managedFields = trackUpdate({ ...base, manager, live, next });
    live = deepFreeze({ ...next, metadata: { ...next.metadata, uid: "u", managedFields } });
    return owners(managedFields);
  };
  const apply = (manager: string, env: Env, force: boolean): { env: unknown; owners: Record<string, unknown> } => {
    const { object } = applyPatch({ ...base, manager, live, patch: objectOf(env), force });
    live = deepFreeze(object);
    return { env: (object["spec"] as { env: unknown }).env, owners: owners(object.metadata.managedFields) };
  };

  expect(write("one", [variable("X", "1"), variable("X", "2"), variable("Y", "3")])).toEqual({
    one: { ".": {}, [X]: {}, [Y]: ITEM },
  });
  expect(write("two", [variable("X", "1"), variable("X", "9"), variable("Y", "3")])).toEqual({
    one: { ".": {}, [Y]: ITEM },
    two: { [X]: {} },
  });
  expect(write("three", [variable("X", "9"), variable("Y", "3")])).toEqual({
    one: { ".": {}, [Y]: ITEM },
    three: { [X]: ITEM },
  });
  expect(write("four", [variable("Y", "7"), variable("X", "9"), variable("Y", "3")])).toEqual({
    one: {},
    three: { [X]: ITEM },
    four: { [Y]: {} },
  });

  const patch = [variable("Y", "8"), variable("Z", "1")];
  expect(() => apply("five", patch, false)).toThrow(
    'Apply failed with 1 conflict: conflict with "four" using t/v1: .spec.env[name="Y"]',
  );
  expect(apply("five", patch, true)).toEqual({
    env: [variable("Y", "8"), variable("X", "9"), variable("Z", "1")],
    owners: { five: { [Y]: ITEM, [Z]: ITEM }, one: {}, three: { [X]: ITEM } },
  });
  expect(apply("five", [variable("Z", "1")], true)).toEqual({
    env: [variable("X", "9"), variable("Z", "1")],
    owners: { five: { [Z]: ITEM }, one: {}, three: { [X]: ITEM } },
  });
});
