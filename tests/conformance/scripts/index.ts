import type { Script } from "../harness/script.ts";
import { access } from "./access.ts";
import { admissionWebhooks } from "./admission-webhooks.ts";
import { serverSideApply } from "./apply.ts";
import { cel } from "./cel.ts";
import { clients } from "./clients.ts";
import { conversionWebhooks } from "./conversion-webhooks.ts";
import { crds } from "./crds.ts";
import { customResources } from "./custom-resources.ts";
import { deletion } from "./deletion.ts";
import { discovery } from "./discovery.ts";
import { documents } from "./documents.ts";
import { kinds } from "./kinds.ts";
import { lifeCycle } from "./life-cycle.ts";
import { lists } from "./lists.ts";
import { patches } from "./patches.ts";
import { podSecurity } from "./pod-security.ts";
import { pods } from "./pods.ts";
import { protobuf } from "./protobuf.ts";
import { requests } from "./requests.ts";
import { subresources } from "./subresources.ts";
import { watches } from "./watches.ts";

/** All scripts in the order they run. */
export const scripts: readonly Script[] = [
  lifeCycle,
  requests,
  patches,
  serverSideApply,
  lists,
  watches,
  discovery,
  documents,
  access,
  subresources,
  customResources,
  cel,
  crds,
  deletion,
  kinds,
  pods,
  podSecurity,
  protobuf,
  admissionWebhooks,
  conversionWebhooks,
  clients,
];
