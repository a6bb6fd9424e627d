import type { ObjectItem } from "@capstan/dashboard-server";
import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { apiPath } from "../api/request.ts";
import { ReviewDialog, type Write } from "../yaml/review-dialog.tsx";
import { Allowed } from "./allowed.tsx";

/** Each new value of this annotation clears the cool-down of a pool's members. */
const RETRY_ANNOTATION = "capstan.dev/retry-at";

/** Clears the cool-down of a pool's members, as `capstan retry workerpool` does. */
export function RetryButton({ item }: { item: ObjectItem }): ReactNode {
  const [write, setWrite] = useState<Write>();
  const review = (): void =>
    setWrite({
      path: apiPath(item.apiVersion, item.plural, item.namespace, item.name),
      method: "PATCH",
      contentType: "application/merge-patch+json",
      body: { metadata: { annotations: { [RETRY_ANNOTATION]: new Date().toISOString() } } },
    });
  return (
    <>
      <Allowed verb="patch" item={item}>
        {(allowed) => (
          <Button
            size="compact-sm"
            variant="default"
            disabled={!allowed}
            title={allowed ? "End the cool-down of the members" : `You may not change ${item.plural} here`}
            onClick={review}
            aria-label={`Retry ${item.name}`}
          >
            Retry
          </Button>
        )}
      </Allowed>
      {write !== undefined && (
        <ReviewDialog
          title={`Retry ${item.name}and end the cool-down of its members`}
          write={write}
          action="Retry"
          onClose={() => setWrite(undefined)}
          onDone={() => setWrite(undefined)}
        />
      )}
    </>
  );
}
