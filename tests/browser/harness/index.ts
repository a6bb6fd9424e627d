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
export { manyClusters, readOnlyToken } from "./objects.ts";
