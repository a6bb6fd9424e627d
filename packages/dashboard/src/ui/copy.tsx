import { CopyButton } from "@mantine/core";
import type { ReactNode } from "react";

/** A text that is copied on click. */
export function CopyText({ text }: { text: string }): ReactNode {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <button type="button" className="copy" onClick={copy} title="Copy">
          <code>{text}</code>
          <span aria-live="polite" className="copy-mark">
            {copied ? "copied" : ""}
          </span>
        </button>
      )}
    </CopyButton>
  );
}
