import type { SimulatedHost } from "@capstan/capi";
import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { apiPath } from "../api/request.ts";
import { useAllowed } from "../cluster/allowed.tsx";
import { ReviewDialog, type Write } from "../yaml/review-dialog.tsx";

interface BreakButtonProps {
  readonly host: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly plural: string;
    readonly namespace: string;
    readonly name: string;
  };
  readonly simulated: SimulatedHost;
  /** Small enough for a row of a table. */
  readonly compact?: boolean;
}

/** Breaks and repairs a simulated host, to demonstrate failures; real hosts have no such button. */
export function BreakButton({ host, simulated, compact = false }: BreakButtonProps): ReactNode {
  // Keeps the requested action: the dashboard shows the new state before the dialog closes.
  const [asked, setAsked] = useState<{ write: Write; broken: boolean }>();
  const { apiVersion, plural, namespace, name } = host;
  // Checked without the name, so that one request serves the whole inventory.
  const allowed = useAllowed("patch", apiVersion.split("/")[0] ?? "", plural, namespace);
  const broken = simulated.health === "broken";
  const ask = (): void =>
    setAsked({
      broken: !broken,
      write: {
        path: apiPath(apiVersion, plural, namespace, name),
        method: "PATCH",
        contentType: "application/merge-patch+json",
        body: simulated.change,
      },
    });
  const word = broken ? "Repair" : "Break";
  return (
    <>
      <Button
        size={compact ? "compact-sm" : "sm"}
        variant="default"
        onClick={ask}
        disabled={!allowed}
        aria-label={`${word} ${name}`}
        title={allowed ? "This host is simulated" : "You may not change hosts here"}
      >
        {word}
      </Button>
      {asked !== undefined && (
        <ReviewDialog
          title={asked.broken ? `Break ${name}: ${simulated.effect}` : `Repair ${name}: it reports again`}
          write={asked.write}
          action={asked.broken ? "Break" : "Repair"}
          onClose={() => setAsked(undefined)}
          onDone={() => setAsked(undefined)}
        />
      )}
    </>
  );
}
