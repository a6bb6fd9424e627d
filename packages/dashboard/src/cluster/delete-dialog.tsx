import type { ObjectItem } from "@capstan/dashboard-server";
import { Button, Group, Modal, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { apiPath, request } from "../api/request.ts";
import { Failure } from "../yaml/review-dialog.tsx";

interface DeleteDialogProps {
  readonly item: ObjectItem;
  /** How many machines are deleted with it. */
  readonly machines: number;
  readonly onClose: () => void;
}

/** Deletes a cluster after the user has typed its name. */
export function DeleteDialog({ item, machines, onClose }: DeleteDialogProps): ReactNode {
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const remove = (): void => {
    setBusy(true);
    request(apiPath(item.apiVersion, item.plural, item.namespace, item.name), { method: "DELETE" })
      .then(onClose, (problem: unknown) => setError(problem as Error))
      .finally(() => setBusy(false));
  };
  return (
    <Modal opened onClose={onClose} title={`Delete ${item.name}`} closeButtonProps={{ "aria-label": "Close" }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === item.name) remove();
        }}
      >
        <p>
          The cluster, its control plane with all its data, and {machines} {machines === 1 ? "machine" : "machines"} are
          deleted. This cannot be undone.
        </p>
        {error !== undefined && <Failure error={error} />}
        <TextInput
          label={`Type ${item.name} to delete it`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color="red.9" loading={busy} disabled={typed !== item.name}>
            Delete cluster
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
