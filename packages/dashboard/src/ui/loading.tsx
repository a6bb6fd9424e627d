import { Loader } from "@mantine/core";
import type { ReactNode } from "react";

/** Shown until the stream has delivered the first data. */
export function Loading({ what }: { what: string }): ReactNode {
  return (
    <div className="loading" role="status">
      <Loader size="sm" aria-hidden="true" /> Loading {what} …
    </div>
  );
}
