import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { queryClient } from "./api/query-client.ts";
import { RequestError } from "./api/request.ts";
import { readSession } from "./api/session.ts";
import { parseFleetSearch } from "./fleet/filters.ts";
import { FleetPage } from "./fleet/fleet-page.tsx";
import { ErrorPage, NotFoundPage } from "./shell/error-page.tsx";
import { Shell } from "./shell/shell.tsx";
import { SignInPage } from "./sign-in/sign-in-page.tsx";

const root = createRootRoute({ notFoundComponent: NotFoundPage, errorComponent: ErrorPage });

const signInRoute = createRoute({ getParentRoute: () => root, path: "/sign-in", component: SignInPage });

/** All other pages require a session. */
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: Shell,
  beforeLoad: async () => {
    try {
      await queryClient.ensureQueryData({ queryKey: ["session"], queryFn: readSession });
    } catch (error) {
      if (error instanceof RequestError && error.status === 401) throw redirect({ to: "/sign-in" });
      throw error;
    }
  },
});

const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/clusters" });
  },
});

const fleet = createRoute({
  getParentRoute: () => shell,
  path: "/clusters",
  validateSearch: parseFleetSearch,
  component: FleetPage,
});

/** Tabs of the cluster page. */
export const TABS = ["overview", "machines", "timeline", "yaml"] as const;
/** A tab of the cluster page. */
export type Tab = (typeof TABS)[number];

const cluster = createRoute({
  getParentRoute: () => shell,
  path: "/clusters/$namespace/$name",
  validateSearch: (raw: Record<string, unknown>): { tab?: Tab; object?: string } => {
    const tab = TABS.find((candidate) => candidate === raw["tab"]);
    const object = raw["object"];
    return { tab, ...(typeof object === "string" ? { object } : {}) };
  },
  component: lazyRouteComponent(() => import("./cluster/cluster-page.tsx"), "ClusterPage"),
});

const create = createRoute({
  getParentRoute: () => shell,
  path: "/create",
  component: lazyRouteComponent(() => import("./create/create-page.tsx"), "CreatePage"),
});

const hosts = createRoute({
  getParentRoute: () => shell,
  path: "/hosts",
  validateSearch: (raw: Record<string, unknown>): { q?: string; problems?: true } => ({
    ...(typeof raw["q"] === "string" && raw["q"] !== "" ? { q: raw["q"] } : {}),
    ...(raw["problems"] === true ? { problems: true } : {}),
  }),
  component: lazyRouteComponent(() => import("./hosts/hosts-page.tsx"), "HostsPage"),
});

/** The routes of the dashboard. */
export const router = createRouter({
  routeTree: root.addChildren([signInRoute, shell.addChildren([home, fleet, cluster, create, hosts])]),
  defaultPreload: "intent",
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
