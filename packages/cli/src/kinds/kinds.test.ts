import * as capi from "@capstan/capi";
import { expect, test } from "vitest";
import * as light from "./kinds.ts";

test.each(Object.entries(light))("%s matches its full definition", (name, kind) => {
  const definition = (capi as unknown as Record<string, typeof kind>)[name];
  const { group, version, plural, namespaced } = kind;
  expect(definition).toMatchObject({ group, version, plural, namespaced, kind: name });
});
