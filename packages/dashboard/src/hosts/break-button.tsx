import { simulatedFault } from "@capstan/capi";
import type { SimulatedHealth } from "@capstan/dashboard-server";
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
  readonly simulated: SimulatedHealth;
  /** Small enough for a row of a table. */
  readonly compact?: boolean;
}

/** Breaks and repairs a simulated host, to demonstrate failures; real hosts have no such button. */
export function BreakButton({ host, simulated, compact = false }: BreakButtonProps): ReactNode {
  // What was asked for stays as it was: the page shows the new state before the dialog closes.
  const [asked, setAsked] = useState<{ write: Write; broken: boolean }>();
  const { apiVersion, kind, plural, namespace, name } = host;
  // Asked without the name: one question for a whole inventory.
  const allowed = useAllowed("patch", apiVersion.split("/")[0] ?? "", plural, namespace);
  const broken = simulated === "broken";
  const ask = (): void =>
    setAsked({
      broken: !broken,
      write: {
        path: apiPath(apiVersion, plural, namespace, name),
        method: "PATCH",
        contentType: "application/merge-patch+json",
        body: simulatedFault(kind, !broken),
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
        title={allowed ? "This host is in memory" : "You may not change hosts here"}
      >
        {word}
      </Button>
      {asked !== undefined && (
        <ReviewDialog
          title={asked.broken ? `Break ${name}: ${faultOf(kind)}` : `Repair ${name}: it answers again`}
          write={asked.write}
          action={asked.broken ? "Break" : "Repair"}
          onClose={() => setAsked(undefined)}
          onDone={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

function faultOf(kind: string): string {
  return kind === "ByoHost" ? "it falls silent, and its node too" : "its management controller stops answering";
}
