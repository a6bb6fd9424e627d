import type { ReactNode } from "react";
import { lineDiff, withContext } from "./line-diff.ts";

const SIGNS = { same: " ", added: "+", removed: "-" } as const;

/** Shows what a write would change, as a diff. */
export function DiffView({ before, after }: { before: string; after: string }): ReactNode {
  if (before === after) return <p className="dim">This changes nothing.</p>;
  const lines = withContext(lineDiff(before, after));
  return (
    // A region that scrolls must be reachable without a mouse.
    <pre className="diff" tabIndex={0} role="region" aria-label="Changes">
      {lines.map((line, index) => (
        <span key={index} className={`diff-${line?.type ?? "gap"}`}>
          {line === undefined ? "⋯\n" : `${SIGNS[line.type]} ${line.text}\n`}
        </span>
      ))}
    </pre>
  );
}
