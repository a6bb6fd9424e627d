import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Secret } from "@capstan/capi";
import { Client } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sharedAuthority, WEBHOOK_AUTHORITY } from "./webhook-authority.ts";

const NAMESPACE = "default";
const key = { namespace: NAMESPACE, name: WEBHOOK_AUTHORITY };
const random = seededRandom(1);
let clock: VirtualClock;
let server: ApiServer;
let client: Client;
beforeEach(async () => {
  clock = new VirtualClock();
  server = await createApiServer({ store: memoryStore(), clock, random, controllers: false });
  client = new Client(server.admin(), { fieldManager: "test", clock });
});
afterEach(() => server.close());

const authority = () => sharedAuthority(client, NAMESPACE, { clock, random });
const stored = async (): Promise<string> =>
  Buffer.from((await client.get(Secret, key))?.data?.["tls.crt"] ?? "", "base64").toString();

test("all managers have one authority, also those that start at the same moment", async () => {
  const [first, second] = await Promise.all([authority(), authority()]);
  expect(second).toEqual(first);
  expect(await authority()).toEqual(first);
  expect(await stored()).toBe(first.certPem);
});

test.each<[string, () => Promise<unknown>]>([
  ["has ended", () => clock.advance(11 * 365 * 24 * 3_600_000)],
  ["cannot be read", () => client.patch({ kind: Secret, ...key }, { data: { "tls.crt": "aGk=" } })],
  ["has no key", () => client.patch({ kind: Secret, ...key }, { data: { "tls.key": "" } })],
])("an authority that %s is replaced by one that all take from then on", async (_, happens) => {
  const first = await authority();
  await happens();
  const next = await authority();
  expect(next.certPem).not.toBe(first.certPem);
  expect(await authority()).toEqual(next);
  expect(await stored()).toBe(next.certPem);
});
