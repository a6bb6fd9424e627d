import { sentence, type WhyRules } from "@capstan/capi";

/** What `why` knows about hosted control planes. */
export const hostedWhy: WhyRules = {
  remedies: [
    {
      matches: ({ reason, kind }) => kind === "HostedControlPlane" && reason === "BinariesMissing",
      remedy: ({ cause }) => ({
        cause: `The Kubernetes programs of the control plane are not on this machine${sentence(cause.message, ": ")}`,
        steps: ["download them: capstan kubernetes install VERSION"],
      }),
    },
    {
      matches: ({ reason, kind }) =>
        kind === "HostedControlPlane" && /^(ComponentsNotReady|NotReady|NotHealthy|NotAvailable)$/.test(reason),
      remedy: ({ cause }, { cluster, flags, stuck }) => ({
        cause: `The control plane is ${stuck ? "not healthy" : "starting"}${sentence(cause.message, ": ")}`,
        steps: [`read the logs of its components: capstan logs ${cluster}${flags}`],
      }),
    },
  ],
};
