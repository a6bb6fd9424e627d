import fc from "fast-check";

/** Laws are checked with the same samples in every run, so that a red run means a change; FC_SEED draws others. */
fc.configureGlobal({ seed: Number(process.env["FC_SEED"] ?? 20_261_115) });
