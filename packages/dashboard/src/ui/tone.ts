import type { ObjectState, StateName } from "@capstan/capi";

/** What a chip says by its colour; the text says the same to those who do not see colours. */
export type Tone = "good" | "bad" | "wait" | "plain" | "unknown";

/** Tone of a condition for which True is good. */
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

/** Tone of a state: only what needs a person is bad. */
export function toneOfState({ state }: Pick<ObjectState, "state">): Tone {
  return STATE_TONES[state];
}
