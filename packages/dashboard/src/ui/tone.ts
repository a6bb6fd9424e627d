import type { ObjectState, StateName } from "@capstan/capi";

/** The meaning that a chip's colour conveys; its text says the same to users who do not see colours. */
export type Tone = "good" | "bad" | "wait" | "plain" | "unknown";

/** Returns the tone of a condition for which True is good. */
export function toneOf(status: string | undefined): Tone {
  return status === "True" ? "good" : status === "False" ? "bad" : "wait";
}

const STATE_TONES: Readonly<Record<StateName, Tone>> = {
  Healthy: "good",
  Progressing: "wait",
  Degraded: "bad",
  Paused: "plain",
  Hibernated: "plain",
  Unknown: "unknown",
};

/** Returns the tone of a state; only states that need attention are bad. */
export function toneOfState({ state }: Pick<ObjectState, "state">): Tone {
  return STATE_TONES[state];
}
