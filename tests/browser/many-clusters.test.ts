import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  accessibilityProblems,
  launchBrowser,
  openPage,
  type QuietPlane,
  screenshot,
  signIn,
  startQuietPlane,
} from "./harness/index.ts";

const COUNT = 1000;

/** Scrolls in steps of one frame; the result is how long the frames took, shortest first. */
const SCROLL_THROUGH = `(async () => {
  const scroller = document.querySelector(".table-scroller");
  const gaps = [];
  let last = performance.now();
  for (let step = 1; step <= 120; step++) {
    scroller.scrollTop = ((scroller.scrollHeight - scroller.clientHeight) * step) / 120;
    await new Promise((resolve) => requestAnimationFrame(resolve));
    gaps.push(performance.now() - last);
    last = performance.now();
  }
  return gaps.sort((a, b) => a - b);
})()`;
let browser: Browser;
let plane: QuietPlane;
let page: Page;
let errors: string[];

beforeAll(async () => {
  browser = await launchBrowser();
  plane = await startQuietPlane(COUNT);
  ({ page, errors } = await openPage(browser));
  await signIn(page, plane.link);
});

afterAll(async () => {
  await browser?.close();
  await plane?.close();
});

test("all are counted, few are drawn", async () => {
  await page.getByRole("button", { name: "100 With problems" }).waitFor({ timeout: 60_000 });
  expect(await page.getByRole("row").count()).toBeLessThan(80);
  expect(await accessibilityProblems(page)).toEqual([]);
});

test("scrolling from end to end reaches the last one and drops few frames", async () => {
  const frames = await page.evaluate<number[]>(SCROLL_THROUGH);
  await page.getByRole("link", { name: `c-0${COUNT - 1}` }).waitFor({ timeout: 10_000 });
  // Wide enough for a machine that does other things; without virtual rows it is ten times more.
  expect(frames[Math.floor(frames.length / 2)]).toBeLessThan(100);
});

test("filters are in the address and come back with it", async () => {
  await page.getByLabel("Only problems").check();
  await page.getByText(`100 of ${COUNT}`).waitFor({ timeout: 10_000 });
  await page.getByLabel("Filter clusters").fill("c-09");
  await page.getByText(`10 of ${COUNT}`).waitFor({ timeout: 10_000 });
  await screenshot(page, "dashboard-problems");
  const address = page.url();
  expect(address).toContain("q=c-09");
  await page.goto(address);
  await page.getByText(`10 of ${COUNT}`).waitFor({ timeout: 60_000 });
  expect(errors).toEqual([]);
});
