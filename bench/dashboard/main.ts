/** `npm run bench -- dashboard [--short]`: the dashboard of a fleet, in a real Chromium on loopback. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { launchBrowser, openPage, pausedCluster, signIn, startQuietPlane } from "@capstan/tests/browser";
import { figure, percentile, report } from "../lib/result.ts";
import { cpuSeconds, sleep } from "../lib/usage.ts";

const SHORT = process.argv.includes("--short");
const CLUSTERS = SHORT ? 200 : 1000;
const LOADS = SHORT ? 3 : 7;
const UPDATES = SHORT ? 10 : 40;
const OPEN_SECONDS = SHORT ? 15 : 60;

/** Scripts that the first page needs: what index.html names, and what those import without being asked to. */
function initialScriptBytes(): number {
  const dist = join(dirname(fileURLToPath(import.meta.url)), "../../../packages/dashboard/dist");
  const html = readFileSync(join(dist, "index.html"), "utf8");
  const assets = join(dist, "assets");
  const needed = new Set([...html.matchAll(/\/assets\/([\w.-]+\.js)/g)].map((match) => match[1] ?? ""));
  for (const name of needed) {
    const code = readFileSync(join(assets, name), "utf8");
    for (const match of code.matchAll(/(?:^|;|\n)import[^()]*?["']\.\/([\w.-]+\.js)["']/g)) needed.add(match[1] ?? "");
  }
  const all = readdirSync(assets);
  return [...needed]
    .filter((name) => all.includes(name))
    .reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length, 0);
}

const browser = await launchBrowser();
const plane = await startQuietPlane(CLUSTERS);
try {
  const { page } = await openPage(browser);
  await signIn(page, plane.link);

  const paints: number[] = [];
  const interactives: number[] = [];
  for (let i = 0; i < LOADS; i++) {
    await page.goto("about:blank");
    await page.goto(`${plane.url}/clusters`);
    await page.getByRole("button", { name: "With problems" }).waitFor();
    // Interactive: the table is rendered and responds; measured by the page's own clock.
    interactives.push(await page.evaluate<number>("performance.now()"));
    paints.push(
      await page.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"),
    );
  }

  const updates: number[] = [];
  for (let i = 0; i < UPDATES; i++) {
    // Sorts before all others, also those made just before: the table draws what is in sight.
    const name = `a-${String(999 - i).padStart(3, "0")}`;
    const begun = performance.now();
    const written = page.request.post(`${plane.url}/k8s/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters`, {
      headers: { origin: plane.url, "content-type": "application/json" },
      data: pausedCluster(name),
    });
    await page.getByRole("link", { name }).waitFor();
    updates.push(performance.now() - begun);
    if (!(await written).ok()) throw new Error(`${name} was refused`);
  }

  await sleep(5_000);
  const before = cpuSeconds(plane.pid);
  await sleep(OPEN_SECONDS * 1000);
  const cores = (cpuSeconds(plane.pid) - before) / OPEN_SECONDS;

  const script = initialScriptBytes() / 1024;
  const paint = percentile(paints, 0.5);
  const interactive = percentile(interactives, 0.5);
  const update = percentile(updates, 0.9);
  report("dashboard", [
    figure("first paint, median", paint, "ms", "< 1000", paint < 1000),
    figure(`interactive with ${CLUSTERS} clusters, median`, interactive, "ms", "< 2000", interactive < 2000),
    figure("initial JavaScript, gzip", script, "KiB", "< 350", script < 350),
    figure("update after the API write, p90", update, "ms", "< 200", update < 200),
    figure(`server CPU, ${OPEN_SECONDS} s open on ${CLUSTERS}`, cores, "cores", "< 0.05", cores < 0.05),
  ]);
} finally {
  await browser.close();
  await plane.close();
}
process.exit(0);
