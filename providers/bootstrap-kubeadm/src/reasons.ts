import type { ReasonCatalogue } from "@capstan/capi";

/** Reasons of the conditions of KubeadmConfigs. */
export const BOOTSTRAP_REASONS: ReasonCatalogue = {
  Available: { meaning: "The bootstrap data, or the certificates for it, are available." },
  NotAvailable: {
    meaning: "The certificates of the cluster are not available yet.",
    cure: "The message says what is missing; a damaged Secret must be restored.",
  },
  SettingsNotSupported: {
    meaning:
      "The kubelet or another program of this version would not start, because the version removed a flag or feature gate.",
    cure: 'Correct the template that the config comes from, or drop such settings with the annotation capstan.dev/drop-removed-flags: "true" on the Cluster.',
  },
};
