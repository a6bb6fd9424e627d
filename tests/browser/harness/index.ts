export {
  accessibilityProblems,
  CHROMIUM,
  launchBrowser,
  openPage,
  screenshot,
  signIn,
  type WatchedPage,
} from "./browser.ts";
export { Instance } from "./instance.ts";
export { pausedCluster, readOnlyToken } from "./objects.ts";
export { type QuietPlane, startQuietPlane } from "./quiet-plane.ts";
