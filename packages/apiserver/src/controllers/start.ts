import type { InternalApi } from "../types.ts";
import { startCsrCleaner } from "./csr-cleaner.ts";
import type { Controller, ControllerDeps } from "./deps.ts";
import { startEventCleaner } from "./event-cleaner.ts";
import { startGarbageCollector } from "./garbage-collector.ts";
import { startNamespaceDefaults } from "./namespace-defaults.ts";
import { startNamespaceDeletion } from "./namespace-deletion.ts";
import { startRoleAggregation } from "./role-aggregation.ts";
import { startTokenCleaner } from "./token-cleaner.ts";

/** Starts all controllers that belong to the built-in kinds. They act on changes alone; an idle server runs none of their code. */
export function startControllers(api: InternalApi, deps: ControllerDeps): Controller {
  const controllers = [
    startGarbageCollector(api, deps),
    startNamespaceDeletion(api, deps),
    startNamespaceDefaults(api, deps),
    startTokenCleaner(api, deps),
    startRoleAggregation(api, deps),
    startCsrCleaner(api, deps),
    startEventCleaner(api, deps),
  ];
  return {
    stop: () => {
      for (const controller of controllers) controller.stop();
    },
    idle: () => controllers.every((controller) => controller.idle()),
  };
}
