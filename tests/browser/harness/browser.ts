import { existsSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { ROOT } from "./root.ts";

/** Where Debian's package puts it. */
export const CHROMIUM = "/usr/bin/chromium";

const IMAGES = join(ROOT, "docs/images");

/** A real Chromium without a window. */
export function launchBrowser(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is missing; apt-get install chromium`);
  // Inside a container Chromium's own sandbox cannot be set up; it only ever opens pages of our own.
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
}

/** A page that remembers everything that went wrong on it. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors, and what the content security policy refused. */
  readonly errors: string[];
}

/** Opens a page of its own profile. */
export async function openPage(
  browser: Browser,
  options: { width?: number; height?: number; colorScheme?: "light" | "dark" } = {},
): Promise<WatchedPage> {
  const { width = 1200, height = 760, colorScheme = "light" } = options;
  const page = await browser.newPage({
    viewport: { width, height },
    colorScheme,
    // What fades in is neither readable nor clickable yet: checks of a page in motion would depend on the machine's speed.
    reducedMotion: "reduce",
    acceptDownloads: true,
  });
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    // Answers like 401 and a server that is away are part of the stories.
    if (message.type() === "error" && !/Failed to load resource|ERR_/.test(message.text())) errors.push(message.text());
  });
  return { page, errors };
}

/** Uses a one-time link. */
export async function signIn(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.waitForURL("**/clusters**");
}

/** Waits for animations that end; one that is cancelled, because its element was replaced, has ended too. */
const ANIMATIONS_FINISHED = `Promise.allSettled(
  document.getAnimations().filter((a) => a.effect.getComputedTiming().endTime !== Infinity).map((a) => a.finished),
).then(() => undefined)`;

/** What WCAG 2.1 AA finds fault with on the page as it is now. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  await page.evaluate(ANIMATIONS_FINISHED);
  return await page.evaluate(async () => {
    const { axe: engine } = globalThis as unknown as { axe: typeof axe };
    const { violations } = await engine.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] });
    return violations.map(
      (violation) =>
        `${violation.id}: ${violation.help} (${violation.nodes
          .slice(0, 3)
          .map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? ""}`)
          .join(" | ")})`,
    );
  });
}

/** Takes a picture for the documentation. */
export async function screenshot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(IMAGES, `${name}.png`), animations: "disabled", caret: "hide" });
}
