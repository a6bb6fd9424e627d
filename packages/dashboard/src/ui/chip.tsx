import { type ObjectState, stateText } from "@capstan/capi";
import type { ReactNode } from "react";
import { type Tone, toneOfState } from "./tone.ts";

/** A small label whose colour and mark show a tone. */
export function Chip({ tone, title, children }: { tone: Tone; title?: string; children: ReactNode }): ReactNode {
  return (
    <span className={`chip chip-${tone}`} title={title}>
      <span className="chip-mark" aria-hidden="true">
        {MARKS[tone]}
      </span>
      <span>{children}</span>
    </span>
  );
}

const MARKS: Readonly<Record<Tone, string>> = { good: "✓", bad: "✕", wait: "…", plain: "", unknown: "?" };

/** A chip for an object's state, with the message as its tooltip. */
export function StateChip({ state, deleting = false }: { state: ObjectState; deleting?: boolean }): ReactNode {
  const text = deleting && state.state === "Progressing" ? "Deleting" : stateText(state);
  return (
    <Chip tone={toneOfState(state)} {...(state.message === "" ? {} : { title: state.message })}>
      {text}
    </Chip>
  );
}
