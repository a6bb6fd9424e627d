import { readFile } from "node:fs/promises";
import { parseYamlDocuments, type Unstructured } from "@capstan/apimachinery";
import { Machine, WorkerPool } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { BareMetalHost } from "@capstan/infra-metal3";
import { simulatedHosts } from "@capstan/manager";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  accessibilityProblems,
  Instance,
  launchBrowser,
  openPage,
  pausedCluster,
  readOnlyToken,
  screenshot,
  signIn,
} from "./harness/index.ts";

/** One story from the first run to the last cluster: each step stands on the one before. */
const WAIT = { timeout: 30_000 };
let browser: Browser;
let instance: Instance;
let page: Page;
let errors: string[];
/** UIDs of the machines of the wizard's cluster before the server was killed. */
let beforeRestart: string[] = [];

const accessible = async (): Promise<void> => expect(await accessibilityProblems(page)).toEqual([]);

beforeAll(async () => {
  browser = await launchBrowser();
  instance = await Instance.start("--demo");
  ({ page, errors } = await openPage(browser));
});

afterAll(async () => {
  await browser?.close();
  await instance?.remove();
});

test("first run: the printed link signs in, once", async () => {
  expect(instance.link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sign-in#/);
  await signIn(page, instance.link);
  await page.getByText("Live", { exact: true }).waitFor(WAIT);
  const { page: second } = await openPage(browser);
  await second.goto(instance.link);
  await second.getByRole("alert").getByText("not accepted").waitFor(WAIT);
  expect(second.url()).not.toContain("#");
  await second.context().close();
});

test("sign-in rejected: without a session there is only the sign-in page; a wrong token is reported", async () => {
  const stranger = await openPage(browser);
  await stranger.page.goto(`${instance.url}/clusters`);
  await stranger.page.waitForURL("**/sign-in");
  expect(await accessibilityProblems(stranger.page)).toEqual([]);
  await stranger.page.getByLabel("Bearer token").fill("nonsense");
  await stranger.page.getByRole("button", { name: "Sign in" }).click();
  await stranger.page.getByRole("alert").getByText("not accepted").waitFor(WAIT);
  await stranger.page.context().close();
});

test("demo: the mixed cluster becomes healthy while one watches", async () => {
  const row = page.getByRole("row").filter({ hasText: "demo" });
  await row.getByText("Healthy", { exact: true }).waitFor({ timeout: 120_000 });
  await accessible();
  await screenshot(page, "dashboard-fleet");
  await row.getByRole("link", { name: "demo" }).click();
  await page.getByRole("heading", { name: "The cluster is healthy" }).waitFor(WAIT);
  await page.getByRole("button", { name: /^WorkerPool general/ }).waitFor(WAIT);
  await accessible();
  await screenshot(page, "dashboard-cluster");
});

test("upgrade: every machine goes to the new version, and the page says so", async () => {
  await instance.run("upgrade", "apply", "demo", "--to", "v1.37.1");
  const client = await instance.client();
  const { items } = await client.list(Machine, { namespace: "default" });
  expect(items.map(({ status }) => status?.nodeInfo?.kubeletVersion)).toEqual(items.map(() => "v1.37.1"));
  await page.getByText("v1.37.1").first().waitFor(WAIT);
  await page.getByRole("heading", { name: "The cluster is healthy" }).waitFor(WAIT);
});

test("scale: the change is shown before it is made, and the machines appear", async () => {
  const before = await page.getByRole("button", { name: /^Machine general-/ }).count();
  await page.getByRole("button", { name: "Scale general" }).click();
  await page.getByRole("textbox", { name: "Machines" }).fill(String(before + 1));
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByText(`+   replicas: ${before + 1}`).waitFor(WAIT);
  await accessible();
  await screenshot(page, "dashboard-review");
  await page.getByRole("button", { name: "Scale", exact: true }).click();
  await page
    .getByText(`${before + 1} of ${before + 1}`)
    .first()
    .waitFor(WAIT);
  await expect.poll(() => page.getByRole("button", { name: /^Machine general-/ }).count(), WAIT).toBe(before + 1);
});

test("retry: members without a free host are asked again when a person says so", async () => {
  const client = await instance.client();
  const pool = { kind: WorkerPool, namespace: "default", name: "general" };
  await client.patch(pool, { spec: { replicas: 7 } });
  await page.getByRole("button", { name: "Retry general" }).click();
  await page.getByText("+     capstan.dev/retry-at:").waitFor(WAIT);
  await accessible();
  await page.getByRole("dialog").getByRole("button", { name: "Retry", exact: true }).click();
  await expect.poll(async () => (await client.get(WorkerPool, pool))?.status?.lastRetry, WAIT).toBeDefined();
  await client.patch(pool, { spec: { replicas: 5 } });
  await page.getByText("5 of 5").first().waitFor(WAIT);
});

test("tabs: machines, timeline and YAML with a dry run", async () => {
  await page.getByRole("tab", { name: "Machines" }).click();
  await page.getByRole("region", { name: "Machines" }).getByText("Running").first().waitFor(WAIT);
  await accessible();
  await page.getByRole("tab", { name: "Timeline" }).click();
  await page.getByText("Available: True").first().waitFor(WAIT);
  await accessible();
  await page.getByRole("tab", { name: "YAML" }).click();
  const editor = page.getByLabel("Cluster demo as YAML");
  await editor.waitFor(WAIT);
  await accessible();
  const text = (await editor.innerText()).replaceAll("\u00a0", " ");
  expect(text).toContain("controlPlaneRef");
  await editor.click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("nonsense: 1\n");
  await page.getByRole("button", { name: "Review changes" }).click();
  await page
    .getByRole("alert")
    .getByText(/unknown field "nonsense"/)
    .waitFor(WAIT);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("tab", { name: "Overview" }).click();
});

test("create by wizard: two groups, checked by the server, then made", async () => {
  await page.goto(`${instance.url}/create`);
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("Lower-case letters").first().waitFor(WAIT);
  await page.getByLabel("Name", { exact: true }).fill("shop");
  await page.getByRole("button", { name: "Add worker group" }).click();
  await page.getByLabel("Group name").nth(1).fill("burst");
  await page.getByRole("region", { name: "YAML" }).getByText("shop-burst").first().waitFor(WAIT);
  await accessible();
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("Accepted by the server").waitFor(WAIT);
  await page.getByRole("button", { name: "Create cluster" }).click();
  await page.waitForURL("**/clusters/default/shop");
  await page.getByRole("heading", { name: "The cluster is healthy" }).waitFor({ timeout: 120_000 });
});

test("create by wizard on two providers: both are in the YAML and in the topology", async () => {
  const client = await instance.client();
  await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "edge" } } as Unstructured);
  const hosts = simulatedHosts("edge", { byoh: 9, metal3: 9 });
  for (const host of hosts.filter(({ metadata: { name = "" } }) => /-9/.test(name))) await client.create(host);
  await page.goto(`${instance.url}/create`);
  await page.getByLabel("Name", { exact: true }).fill("rack");
  await page.getByLabel("Namespace").fill("edge");
  await page.getByLabel("Control plane runs").selectOption("Embedded");
  await page.getByLabel("Group name").fill("own");
  await page.getByLabel("Provider").selectOption("Your own hosts");
  await page.getByRole("button", { name: "Add worker group" }).click();
  await page.getByLabel("Group name").nth(1).fill("metal");
  await page.getByLabel("Provider").nth(1).selectOption("Bare metal");
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("Required by this provider").waitFor(WAIT);
  await page.getByLabel("Image").fill("http://images.example/node.iso");
  await page.getByLabel("Format").fill("live-iso");
  await accessible();
  const yaml = await page.getByRole("region", { name: "YAML" }).innerText();
  for (const kind of ["MetaCluster", "ByoCluster", "Metal3Cluster", "ByoMachineTemplate", "Metal3MachineTemplate"])
    expect(yaml).toContain(`kind: ${kind}\n`);
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("Accepted by the server").waitFor(WAIT);
  await screenshot(page, "dashboard-create");
  await page.getByRole("button", { name: "Create cluster" }).click();
  await page.waitForURL("**/clusters/edge/rack");
  await page.getByRole("heading", { name: "The cluster is healthy" }).waitFor({ timeout: 120_000 });
  const parts = ["MetaCluster rack", "ByoCluster rack", "Metal3Cluster rack", "ByoHost own-9", "BareMetalHost metal-9"];
  for (const part of parts) await page.getByRole("button", { name: new RegExp(`^${part}`) }).waitFor(WAIT);
  await page.getByRole("tab", { name: "YAML" }).click();
  const editor = page.getByLabel("Cluster rack as YAML");
  await expect
    .poll(async () => (await editor.innerText()).replaceAll("\u00a0", " "), WAIT)
    .toContain("kind: MetaCluster");
});

test("create by wizard: reports what could not start or would wait before the cluster is created, and shows a cure", async () => {
  const client = await instance.client();
  await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "short" } } as Unstructured);
  // Other steps know the first hosts by their names.
  const [first, second] = simulatedHosts("short", { byoh: 8 }).slice(6) as [Unstructured, Unstructured];
  await client.create(first);
  await page.goto(`${instance.url}/create`);
  await page.getByLabel("Name", { exact: true }).fill("late");
  await page.getByLabel("Namespace").fill("short");
  // Nobody has installed that one.
  await page.getByLabel("Kubernetes version").fill("v1.28.99");
  await page.getByLabel("Group name").fill("own");
  await page.getByLabel("Provider").selectOption("Your own hosts");
  await page.getByRole("textbox", { name: "Machines" }).fill("2");
  await page.getByRole("button", { name: "Check" }).click();
  const alerts = page.getByRole("alert");
  await alerts.getByText("Kubernetes v1.28.99 is not installed on the manager's machine").waitFor(WAIT);
  await alerts.getByText("capstan kubernetes install v1.28.99").waitFor(WAIT);
  await alerts.getByText("own needs 2 free ByoHosts that match, there is 1").waitFor(WAIT);
  await alerts.getByText("capstan host add NAME").waitFor(WAIT);
  const create = page.getByRole("button", { name: "Create cluster" });
  expect(await create.isDisabled()).toBe(true);
  await page.getByLabel("Create it anyway and let machines wait").check();
  // Machines can wait for hosts; a control plane without programs never starts.
  expect(await create.isDisabled()).toBe(true);
  await accessible();
  await page.getByLabel("Control plane runs").selectOption("Embedded");
  await page.getByRole("button", { name: "Check" }).click();
  await alerts.getByText("own needs 2 free ByoHosts that match, there is 1").waitFor(WAIT);
  expect(await alerts.getByText("is not installed").count()).toBe(0);
  expect(await create.isDisabled()).toBe(true);
  await page.getByLabel("Create it anyway and let machines wait").check();
  expect(await create.isDisabled()).toBe(false);
  await page.getByLabel("Create it anyway and let machines wait").uncheck();
  expect(await create.isDisabled()).toBe(true);
  await screenshot(page, "dashboard-create-refused");
  await client.create(second);
  await expect.poll(() => create.isDisabled(), WAIT).toBe(false);
  expect(await alerts.count()).toBe(0);
  await client.delete(first);
  await client.delete(second);
});

test("create a worker pool: one count over groups", async () => {
  await page.goto(`${instance.url}/create`);
  await page.getByLabel("Name", { exact: true }).fill("pooled");
  await page.getByLabel("One replica count for all groups").check();
  await page.getByLabel("Total machines").fill("3");
  await page.getByLabel("At most").fill("2");
  await page.getByLabel("Cost per machine").fill("0.10");
  await page.getByRole("button", { name: "Add worker group" }).click();
  await page.getByLabel("Cost per machine").nth(1).fill("0.50");
  await accessible();
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("Accepted by the server").waitFor(WAIT);
  await screenshot(page, "dashboard-pool");
  await page.getByRole("button", { name: "Create cluster" }).click();
  await page.waitForURL("**/clusters/default/pooled");
  await page.getByRole("heading", { name: "The cluster is healthy" }).waitFor({ timeout: 120_000 });
  await page.getByRole("region", { name: "Workers" }).getByText("2/2").waitFor(WAIT);
});

test("create from a ClusterClass: its variables are a form", async () => {
  const client = await instance.client();
  const text = await readFile(new URL("../../docs/examples/class-in-memory.yaml", import.meta.url), "utf8");
  for (const object of parseYamlDocuments(text)) await client.create(object as Unstructured);
  await page.goto(`${instance.url}/create`);
  await page.getByLabel("Name", { exact: true }).fill("classy");
  await page.getByLabel("Pattern").selectOption("in-memory");
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("Required by this class").waitFor(WAIT);
  await page.getByLabel("bootSeconds").fill("1");
  await page.getByLabel("stage").selectOption("production");
  await accessible();
  await page.getByRole("region", { name: "YAML" }).getByText("classRef").waitFor(WAIT);
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("Accepted by the server").waitFor(WAIT);
  await screenshot(page, "dashboard-class");
  await page.getByRole("button", { name: "Create cluster" }).click();
  await page.waitForURL("**/clusters/default/classy");
  await page.getByRole("heading", { name: "The cluster is healthy" }).waitFor({ timeout: 120_000 });
});

test("break two hosts and see both causes; repair them and the cluster is healthy again", async () => {
  // The upgrade has moved machines between hosts.
  const client = await instance.client();
  const { items } = await client.list(ByoHost, { namespace: "default" });
  const host = items.find(({ spec }) => spec?.machineRef !== undefined)?.metadata.name ?? "";
  const metals = await client.list(BareMetalHost, { namespace: "default" });
  const metal = metals.items.find(({ spec }) => spec.consumerRef !== undefined)?.metadata.name ?? "";
  await page.goto(`${instance.url}/hosts?q=${host}%20default`);
  await page.getByRole("button", { name: `Break ${host}` }).click();
  await page.getByText("+     memory.capstan.dev/agent: dead").waitFor(WAIT);
  await accessible();
  await page.getByRole("dialog").getByRole("button", { name: "Break" }).click();
  await page.getByRole("button", { name: `Repair ${host}` }).waitFor(WAIT);
  await page.goto(`${instance.url}/clusters?problems=true`);
  await page.getByRole("link", { name: "demo" }).waitFor({ timeout: 180_000 });
  expect(await page.getByRole("link", { name: "shop" }).count()).toBe(0);
  await page.getByRole("link", { name: "demo" }).click();
  const why = page.getByRole("region", { name: "Why" });
  await why.getByText("capstan why demo").waitFor(WAIT);
  await why.getByText(`Host ${host} has gone silent`).waitFor(WAIT);
  await instance.run("demo", "break", metal);
  await why.getByText("Cause 1 of 2").waitFor(WAIT);
  await why.getByText("Cause 2 of 2").waitFor(WAIT);
  await why.getByText(`Bare-metal host ${metal} has a problem`).waitFor(WAIT);
  expect(await why.getByRole("heading", { name: "What to do" }).count()).toBe(2);
  expect(await why.getByRole("listitem").count()).toBeGreaterThan(2);
  await accessible();
  await screenshot(page, "dashboard-why");
  await instance.run("demo", "repair", metal);
  await why.getByText("Cause 1 of 2").waitFor({ ...WAIT, state: "detached" });
  await page.getByRole("button", { name: new RegExp(`^ByoHost ${host}`) }).click();
  await page.getByRole("button", { name: `Repair ${host}` }).click();
  await page
    .getByRole("dialog", { name: new RegExp(`^Repair ${host}`) })
    .getByRole("button", { name: "Repair", exact: true })
    .click();
  await page.getByRole("heading", { name: "The cluster is healthy" }).waitFor({ timeout: 180_000 });
});

test("pause and resume; the kubeconfig is a file", async () => {
  await page.goto(`${instance.url}/clusters/default/shop`);
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByText("+   paused: true").waitFor(WAIT);
  await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
  await page.getByRole("region", { name: "Why" }).getByText("Cluster shop is paused").waitFor(WAIT);
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause", exact: true }).waitFor(WAIT);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Kubeconfig" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe("shop.kubeconfig");
  expect(await readFile(await file.path(), "utf8")).toContain("client-certificate-data");
});

test("hosts, keyboard, help, dark and phone", async () => {
  await page.goto(`${instance.url}/clusters`);
  await page.getByRole("link", { name: "demo" }).waitFor(WAIT);
  await page.keyboard.press("/");
  await page.keyboard.type("sho");
  await page.waitForURL("**/clusters?q=sho");
  await page.getByRole("link", { name: "demo" }).waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("h");
  await page.waitForURL("**/hosts");
  await page.getByRole("region", { name: "Hosts" }).getByText("metal-1", { exact: true }).waitFor(WAIT);
  await accessible();
  await screenshot(page, "dashboard-hosts");
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("Go to clusters").waitFor(WAIT);
  await accessible();
  await page.keyboard.press("Escape");
  const phone = await openPage(browser, { width: 390, height: 780, colorScheme: "dark" });
  await signIn(phone.page, await instance.newLink());
  await phone.page.getByRole("link", { name: "demo" }).waitFor(WAIT);
  expect(await accessibilityProblems(phone.page)).toEqual([]);
  const wide = await phone.page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
  expect(wide).toBeLessThanOrEqual(0);
  await phone.page.getByRole("link", { name: "demo" }).click();
  await phone.page.getByRole("heading", { name: "The cluster is healthy" }).waitFor(WAIT);
  expect(await accessibilityProblems(phone.page)).toEqual([]);
  await screenshot(phone.page, "dashboard-phone");
  await phone.page.context().close();
  const dark = await openPage(browser, { colorScheme: "dark" });
  await signIn(dark.page, await instance.newLink());
  await dark.page.getByRole("link", { name: "demo" }).click();
  await dark.page.getByRole("button", { name: /^WorkerPool general/ }).waitFor(WAIT);
  expect(await accessibilityProblems(dark.page)).toEqual([]);
  await screenshot(dark.page, "dashboard-dark");
  await dark.page.context().close();
});

test("read-only user: sees all, may change nothing, whatever the page says", async () => {
  const token = await readOnlyToken(await instance.client());
  const reader = await openPage(browser);
  await reader.page.goto(`${instance.url}/sign-in`);
  await reader.page.getByLabel("Bearer token").fill(token);
  await reader.page.getByRole("button", { name: "Sign in" }).click();
  await reader.page.getByRole("link", { name: "shop" }).click();
  await reader.page.getByRole("heading", { name: "The cluster is healthy" }).waitFor(WAIT);
  await expect.poll(() => reader.page.getByTitle("You may not delete this cluster").count(), WAIT).toBe(1);
  for (const name of ["Delete", "Pause", "Kubeconfig"])
    expect(await reader.page.getByRole("button", { name }).isDisabled()).toBe(true);
  const status = await reader.page.evaluate(async () => {
    const path = "/k8s/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters/shop";
    return (await fetch(path, { method: "DELETE" })).status;
  });
  expect(status).toBe(403);
  expect(await reader.page.evaluate(async () => (await fetch("/kubeconfig/default/shop")).status)).toBe(403);
  await reader.page.goto(`${instance.url}/hosts`);
  await reader.page.getByRole("region", { name: "Hosts" }).getByText("own-2", { exact: true }).waitFor(WAIT);
  expect(await reader.page.getByRole("button", { name: "Break own-2" }).isDisabled()).toBe(true);
  await reader.page.context().close();
});

test("restart of the server during use: no reload, no new sign-in", async () => {
  await page.goto(`${instance.url}/clusters`);
  await page.getByRole("link", { name: "shop" }).waitFor(WAIT);
  await page.evaluate("window.stillHere = true");
  const machines = await (await instance.client()).list(Machine, { namespace: "edge" });
  beforeRestart = machines.items.map(({ metadata: { uid = "" } }) => uid).sort();
  await instance.down("SIGKILL");
  await page.getByText("Connection lost").waitFor(WAIT);
  await instance.up();
  await page.getByText("Live", { exact: true }).waitFor(WAIT);
  const client = await instance.client();
  await client.create(pausedCluster("after-restart"));
  await page.getByRole("link", { name: "after-restart" }).waitFor(WAIT);
  expect(await page.evaluate("window.stillHere")).toBe(true);
});

test("after the restart the demo's hosts, which are in memory, have joined again", async () => {
  await page.getByRole("link", { name: "demo" }).click();
  await page.getByRole("heading", { name: "The cluster is healthy" }).waitFor({ timeout: 120_000 });
  await page.getByRole("region", { name: "Workers" }).getByText("5 of 5").waitFor({ timeout: 120_000 });
  await page.getByRole("link", { name: "Clusters" }).click();
});

test("the machines of the wizard's cluster are the same after the restart, and run", async () => {
  const client = await instance.client();
  const running = async (): Promise<string[]> => {
    const { items } = await client.list(Machine, { namespace: "edge" });
    return items.flatMap(({ metadata: { uid = "" }, status }) => (status?.phase === "Running" ? uid : [])).sort();
  };
  expect(beforeRestart).toHaveLength(2);
  await expect.poll(running, { timeout: 120_000 }).toEqual(beforeRestart);
  await page.goto(`${instance.url}/clusters/edge/rack`);
  await page.getByRole("heading", { name: "The cluster is healthy" }).waitFor({ timeout: 120_000 });
  expect(await running(), "none is replaced later").toEqual(beforeRestart);
  await page.getByRole("link", { name: "Clusters" }).click();
});

test("delete with the typed name: everything goes", async () => {
  await page.getByRole("link", { name: "shop" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  const confirm = page.getByRole("button", { name: "Delete cluster" });
  expect(await confirm.isDisabled()).toBe(true);
  await page.getByLabel("Type shop to delete it").fill("shop");
  await confirm.click();
  await page.getByRole("heading", { name: "shop is not here" }).waitFor({ timeout: 180_000 });
  const client = await instance.client();
  const left = await client.list(Machine, {
    namespace: "default",
    labelSelector: "cluster.x-k8s.io/cluster-name=shop",
  });
  expect(left.items).toEqual([]);
});

test("nothing went wrong on the page, and the policy refused nothing", () => {
  expect(errors).toEqual([]);
});
