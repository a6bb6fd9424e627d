import type { TimelineItem } from "@capstan/dashboard-server";
import { Switch } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Chip } from "../ui/chip.tsx";
import { Age } from "../ui/time.tsx";

const PAGE = 100;

/** Shows Events and condition transitions, newest first. */
export function Timeline({
  items,
  onOpen,
}: {
  items: readonly TimelineItem[];
  onOpen: (id: string) => void;
}): ReactNode {
  const [changes, setChanges] = useState(true);
  const [shown, setShown] = useState(PAGE);
  const wanted = items.filter((item) => changes || item.type === "event");
  return (
    <section aria-label="Timeline">
      <Switch
        label="Show conditions"
        checked={changes}
        onChange={(event) => setChanges(event.currentTarget.checked)}
        mb="sm"
      />
      {wanted.length === 0 && <p className="empty">No events yet.</p>}
      <ol className="timeline">
        {wanted.slice(0, shown).map((item) => (
          <li key={`${item.type}/${item.at}/${item.kind}/${item.name}/${item.reason}/${item.message}`}>
            <span className="when dim">
              <Age since={item.at} />
            </span>
            <Chip tone={item.warning ? "bad" : "plain"}>{item.reason}</Chip>
            <span>
              <button type="button" className="link" onClick={() => onOpen(`${item.kind}/${item.name}`)}>
                {item.kind}/{item.name}
              </button>
              {item.count !== undefined && <span className="dim"> ×{item.count}</span>}
              <span className="message"> {item.message}</span>
            </span>
          </li>
        ))}
      </ol>
      {wanted.length > shown && (
        <button type="button" className="link" onClick={() => setShown(shown + PAGE)}>
          Show older
        </button>
      )}
    </section>
  );
}
