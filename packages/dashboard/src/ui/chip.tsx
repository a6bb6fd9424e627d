import type { ReactNode } from "react";

/** What a chip says by its colour; the text says the same to those who do not see colours. */
export type Tone = "good" | "bad" | "wait" | "plain";

/** A small label with a state. */
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

const MARKS: Readonly<Record<Tone, string>> = { good: "✓", bad: "✕", wait: "…", plain: "" };

/** Tone of a condition for which True is good. */
export function toneOf(status: string | undefined): Tone {
  return status === "True" ? "good" : status === "False" ? "bad" : "wait";
}
