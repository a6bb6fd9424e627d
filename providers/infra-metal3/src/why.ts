import { type Cause, sentence, type WhyRules } from "@capstan/capi";

/** Firmware checks and writing an image take long, and show in no condition. */
const PATIENCE_MS = 1_800_000;

/** What `why` knows about bare metal. */
export const bareMetalWhy: WhyRules = {
  // What upstream calls it.
  capacityReasons: ["AssociateBareMetalHostFailed"],
  capacityCure: "register another bare-metal host (a BareMetalHost), or free one",
  patienceMs: { Metal3Machine: PATIENCE_MS, BareMetalHost: PATIENCE_MS },
  isFault: (cause) => cause.condition === "Ready" && isHostError(cause),
  remedies: [
    {
      matches: (cause) => cause.status === "False" && isHostError(cause),
      remedy: ({ cause }, { flags }) => ({
        cause: `Bare-metal host ${cause.name} has a problem${sentence(cause.message, ": ")}`,
        steps: [
          `check that its management controller answers and the credentials are right: kubectl describe baremetalhost ${cause.name}${flags}`,
        ],
      }),
    },
  ],
};

function isHostError({ kind, reason }: Cause): boolean {
  return kind === "BareMetalHost" && reason.toLowerCase().endsWith("error");
}
