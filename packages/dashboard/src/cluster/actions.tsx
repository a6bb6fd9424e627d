import type { ObjectItem } from "@capstan/dashboard-server";
import { Button, Group } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { apiPath, RequestError } from "../api/request.ts";
import { Notice } from "../ui/notice.tsx";
import { ReviewDialog, type Write } from "../yaml/review-dialog.tsx";
import { useAllowed } from "./allowed.tsx";
import { DeleteDialog } from "./delete-dialog.tsx";

/** The actions on a whole cluster: download its kubeconfig, pause or resume it, and delete it. */
export function Actions({ item, machines }: { item: ObjectItem; machines: number }): ReactNode {
  // Keeps the requested action: the dashboard shows the new state before the dialog closes.
  const [asked, setAsked] = useState<{ write: Write; resume: boolean }>();
  const [deleting, setDeleting] = useState(false);
  const [problem, setProblem] = useState("");
  const group = item.apiVersion.split("/")[0] ?? "";
  const mayPatch = useAllowed("patch", group, item.plural, item.namespace, item.name);
  const mayDelete = useAllowed("delete", group, item.plural, item.namespace, item.name);
  const mayRead = useAllowed("get", "", "secrets", item.namespace, `${item.name}-kubeconfig`);
  const paused = item.facts.paused === true;
  const download = (): void => {
    setProblem("");
    downloadKubeconfig(item.namespace, item.name).catch((error: unknown) => setProblem((error as Error).message));
  };
  const pause = (): void =>
    setAsked({
      resume: paused,
      write: {
        path: apiPath(item.apiVersion, item.plural, item.namespace, item.name),
        method: "PATCH",
        contentType: "application/merge-patch+json",
        body: { spec: { paused: paused ? null : true } },
      },
    });
  const hint = (allowed: boolean, what: string): string => (allowed ? "" : `You may not ${what}`);
  return (
    <>
      <Group gap="xs">
        <Button variant="default" onClick={download} disabled={!mayRead} title={hint(mayRead, "read its kubeconfig")}>
          Kubeconfig
        </Button>
        <Button variant="default" onClick={pause} disabled={!mayPatch} title={hint(mayPatch, "change this cluster")}>
          {paused ? "Resume" : "Pause"}
        </Button>
        <Button
          color="red.9"
          onClick={() => setDeleting(true)}
          disabled={!mayDelete || item.deleting}
          title={hint(mayDelete, "delete this cluster")}
        >
          Delete
        </Button>
      </Group>
      {problem !== "" && <Notice tone="bad">{problem}</Notice>}
      {asked !== undefined && (
        <ReviewDialog
          title={asked.resume ? `Resume ${item.name}` : `Pause ${item.name}: it is not reconciled until it is resumed`}
          write={asked.write}
          action={asked.resume ? "Resume" : "Pause"}
          onClose={() => setAsked(undefined)}
          onDone={() => setAsked(undefined)}
        />
      )}
      {deleting && <DeleteDialog item={item} machines={machines} onClose={() => setDeleting(false)} />}
    </>
  );
}

/** Fetches the file first, so that an error is shown as a message and not saved as a file. */
async function downloadKubeconfig(namespace: string, name: string): Promise<void> {
  const response = await fetch(`/kubeconfig/${namespace}/${name}`, { credentials: "same-origin" });
  if (!response.ok) {
    const { message } = (await response.json().catch(() => ({}))) as { message?: string };
    throw new RequestError(response.status, message ?? `the server answered ${response.status}`);
  }
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = `${name}.kubeconfig`;
  link.click();
  URL.revokeObjectURL(address);
}
