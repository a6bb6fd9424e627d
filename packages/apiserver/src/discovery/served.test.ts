import { afterEach, beforeEach, expect, it } from "vitest";
import { startTestServer, type TestServer, widgetCrd } from "../testing/server.ts";

/** Discovery promises nothing that is not served. */
let test: TestServer;

beforeEach(async () => {
  test = await startTestServer({ controllers: false });
  await test.server.registerCrds([widgetCrd()]);
});
afterEach(() => test.server.close());

interface Group {
  readonly name: string;
  readonly versions: readonly { readonly groupVersion: string }[];
}
interface Resource {
  readonly name: string;
  readonly verbs: readonly string[];
}

const bodyOf = async (path: string): Promise<unknown> => {
  const { status, body } = await test.get(path);
  expect(`${path} ${status}`).toBe(`${path} 200`);
  return body;
};

it("answers at every group, version and list that discovery names, with OpenAPI for each version", async () => {
  const { groups } = (await bodyOf("/apis")) as { groups: Group[] };
  const versions = groups.flatMap((group) => group.versions.map(({ groupVersion }) => `apis/${groupVersion}`));
  expect(versions).toEqual(
    expect.arrayContaining(["apis/autoscaling/v1", "apis/autoscaling/v2", "apis/example.test/v1"]),
  );
  for (const { name } of groups) await bodyOf(`/apis/${name}`);
  for (const version of ["api/v1", ...versions]) {
    await bodyOf(`/openapi/v3/${version}`);
    const { resources } = (await bodyOf(`/${version}`)) as { resources: Resource[] };
    for (const { name, verbs } of resources) if (verbs.includes("list")) await bodyOf(`/${version}/${name}`);
  }
});
