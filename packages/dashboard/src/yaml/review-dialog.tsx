import type { Unstructured } from "@capstan/apimachinery";
import { Button, Group, Loader, Modal } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { RequestError, request } from "../api/request.ts";
import { Notice } from "../ui/notice.tsx";
import { DiffView } from "./diff-view.tsx";
import { comparableTexts } from "./object-text.ts";

/** A write that the user wants to make. */
export interface Write {
  readonly path: string;
  readonly method: "PATCH" | "PUT";
  readonly contentType?: string;
  readonly body: unknown;
}

interface ReviewProps {
  readonly title: string;
  readonly write: Write;
  readonly action: string;
  readonly onClose: () => void;
  /** Called with the object as it is after the write. */
  readonly onDone: (object: Unstructured) => void;
}

type State =
  | { type: "asking" }
  | { type: "ready"; before: string; after: string }
  | { type: "writing"; before: string; after: string }
  | { type: "failed"; error: Error };

/** Runs a write as a server dry run, shows what it would change, and sends it when the user confirms. */
export function ReviewDialog({ title, write, action, onClose, onDone }: ReviewProps): ReactNode {
  const [state, setState] = useState<State>({ type: "asking" });
  const fail = (error: unknown): void =>
    setState({ type: "failed", error: error instanceof Error ? error : new Error(String(error)) });
  useEffect(() => {
    let live = true;
    const show = (next: State): void => {
      if (live) setState(next);
    };
    Promise.all([request<Unstructured>(write.path), send(write, { dryRun: "All", fieldValidation: "Strict" })]).then(
      ([now, then]) => show({ type: "ready", ...comparableTexts(now, then) }),
      (error: unknown) => show({ type: "failed", error: error as Error }),
    );
    return () => {
      live = false;
    };
  }, [write]);
  const commit = (): void => {
    if (state.type !== "ready") return;
    setState({ ...state, type: "writing" });
    send(write, { fieldValidation: "Strict" }).then(onDone, fail);
  };
  return (
    <Modal opened onClose={onClose} title={title} size="xl" closeButtonProps={{ "aria-label": "Close" }}>
      {state.type === "asking" && (
        <div className="loading" role="status">
          <Loader size="sm" aria-hidden="true" /> Validating on the server …
        </div>
      )}
      {state.type === "failed" && <Failure error={state.error} />}
      {(state.type === "ready" || state.type === "writing") && (
        <>
          <p>The server accepts this and would change:</p>
          <DiffView before={state.before} after={state.after} />
        </>
      )}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          onClick={commit}
          loading={state.type === "writing"}
          disabled={(state.type !== "ready" && state.type !== "writing") || state.before === state.after}
        >
          {action}
        </Button>
      </Group>
    </Modal>
  );
}

function send(write: Write, query: Record<string, string>): Promise<Unstructured> {
  return request<Unstructured>(write.path, {
    method: write.method,
    body: write.body,
    contentType: write.contentType,
    query: { fieldManager: "capstan-dashboard", ...query },
  });
}

/** Shows why the server rejected a write, with the causes by field. */
export function Failure({ error }: { error: Error }): ReactNode {
  const causes = error instanceof RequestError ? error.causes : [];
  return (
    <Notice tone="bad" title="Refused">
      <p>{error.message}</p>
      {causes.length > 0 && (
        <ul>
          {causes.map(({ field, message }) => (
            <li key={`${field}${message}`}>
              <code>{field}</code>: {message}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}
