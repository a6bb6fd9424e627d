import type { ObjectItem } from "@capstan/dashboard-server";
import { Button, Group, Modal, NumberInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { apiPath } from "../api/request.ts";
import { ReviewDialog, type Write } from "../yaml/review-dialog.tsx";

const MAX_REPLICAS = 10_000;

/** Asks for the number of replicas, then shows what the change would do. */
export function ScaleDialog({ item, onClose }: { item: ObjectItem; onClose: () => void }): ReactNode {
  const [replicas, setReplicas] = useState<string | number>(item.facts.desired ?? 0);
  const [write, setWrite] = useState<Write>();
  if (write !== undefined)
    return (
      <ReviewDialog
        title={`Scale ${item.name} to ${replicas}`}
        write={write}
        action="Scale"
        onClose={onClose}
        onDone={onClose}
      />
    );
  const review = (): void =>
    setWrite({
      path: apiPath(item.apiVersion, item.plural, item.namespace, item.name),
      method: "PATCH",
      contentType: "application/merge-patch+json",
      body: { spec: { replicas: Number(replicas) } },
    });
  return (
    <Modal opened onClose={onClose} title={`Scale ${item.name}`} closeButtonProps={{ "aria-label": "Close" }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          review();
        }}
      >
        <NumberInput
          label="Machines"
          description={`Now ${item.facts.desired ?? 0}`}
          value={replicas}
          onChange={setReplicas}
          min={0}
          max={MAX_REPLICAS}
          allowDecimal={false}
          allowNegative={false}
          hideControls
          data-autofocus
        />
        <Group justify="flex-end" mt="md">
          <Button type="submit" disabled={replicas === "" || Number(replicas) === item.facts.desired}>
            Review
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
