import { shortageText } from "@capstan/capi";
import { Checkbox } from "@mantine/core";
import type { ReactNode } from "react";
import { CopyText } from "../ui/copy.tsx";
import { Notice } from "../ui/notice.tsx";
import type { Obstacles } from "./obstacles.ts";

interface ObstacleNoticesProps {
  readonly obstacles: Obstacles;
  /** Whether machines may wait for hosts. */
  readonly mayWait: boolean;
  readonly onMayWait: (mayWait: boolean) => void;
}

/** Shows what would prevent the cluster from starting, what to do about it, and the option to wait for hosts. */
export function ObstacleNotices({ obstacles, mayWait, onMayWait }: ObstacleNoticesProps): ReactNode {
  const { version, shortages, warnings } = obstacles;
  return (
    <>
      {version !== undefined && (
        <Notice tone="bad" title="The control plane could not start">
          <p>{version.problem}. Install it there:</p>
          <CopyText text={version.command} />
        </Notice>
      )}
      {shortages.length > 0 && (
        <Notice tone="bad" title="Too few hosts are free">
          {shortages.map((shortage) => (
            <div key={shortage.group}>
              <p>
                {shortageText(shortage)}. To add one, {shortage.cure}
                {shortage.command === undefined ? "." : ":"}
              </p>
              {shortage.command !== undefined && <CopyText text={shortage.command} />}
            </div>
          ))}
          <Checkbox
            mt="sm"
            label="Create it anyway and let machines wait"
            checked={mayWait}
            onChange={(event) => onMayWait(event.currentTarget.checked)}
          />
        </Notice>
      )}
      {warnings.map((warning) => (
        <Notice key={warning} tone="bad" title="This will probably fail">
          {warning}
        </Notice>
      ))}
    </>
  );
}
