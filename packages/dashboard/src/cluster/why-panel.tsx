import type { Explanation } from "@capstan/capi";
import { Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Chip } from "../ui/chip.tsx";
import { CopyText } from "../ui/copy.tsx";
import { Age } from "../ui/time.tsx";
import { toneOf, toneOfState } from "../ui/tone.ts";
import type { TreeNode } from "./tree.ts";

interface WhyPanelProps {
  readonly root: TreeNode;
  readonly onOpen: (id: string) => void;
}

/** Shows what `capstan why` prints: every cause, most severe first, with what to do and the chain of objects that leads to it. */
export function WhyPanel({ root, onOpen }: WhyPanelProps): ReactNode {
  const { namespace, state, causes = [] } = root.item;
  if (causes.length === 0) return null;
  return (
    <section className={`card why why-${toneOfState(state)}`} aria-label="Why">
      <Title order={2} size="h4">
        {headingOf(root)}
      </Title>
      {causes.map((cause, at) => (
        <CauseView
          key={keyOf(cause)}
          cause={cause}
          label={causes.length === 1 ? undefined : `Cause ${at + 1} of ${causes.length}`}
          onOpen={onOpen}
        />
      ))}
      <p className="dim">
        On the command line:{" "}
        <CopyText text={`capstan why ${root.name}${namespace === "default" ? "" : ` -n ${namespace}`}`} />
      </p>
    </section>
  );
}

interface CauseViewProps {
  readonly cause: Explanation;
  /** Its place in the list, when there are several. */
  readonly label: string | undefined;
  readonly onOpen: (id: string) => void;
}

function CauseView({ cause: found, label, onOpen }: CauseViewProps): ReactNode {
  return (
    <div className="cause">
      {label !== undefined && (
        <div className="chips wrap">
          <span className="dim small">{label}</span>
          <Chip tone={toneOfState({ state: found.level })}>{found.level}</Chip>
        </div>
      )}
      <p className="why-cause">{found.cause}</p>
      {found.alike !== undefined && (
        <p className="dim">
          The same: {found.alike.names.join(", ")}
          {found.alike.count > found.alike.names.length && ` and ${found.alike.count - found.alike.names.length} more`}
        </p>
      )}
      <div className="grid-2">
        <div>
          <h3>What to do</h3>
          <ol className="steps">
            {found.steps.map((step) => (
              <li key={step}>
                <Step text={step} />
              </li>
            ))}
          </ol>
        </div>
        <div>
          <h3>Chain of causes</h3>
          <ol className="chain">
            {found.chain.map((cause) => (
              <li key={`${cause.kind}/${cause.name}/${cause.condition}`}>
                <button type="button" className="link" onClick={() => onOpen(`${cause.kind}/${cause.name}`)}>
                  {cause.kind}/{cause.name}
                </button>
                <div className="chips wrap">
                  <Chip
                    tone={
                      cause.condition === "Paused" || cause.condition === "Deleting" ? "wait" : toneOf(cause.status)
                    }
                  >
                    {cause.condition}: {cause.status}
                  </Chip>
                  <span className="dim">
                    {cause.reason}, for <Age since={cause.since} />
                  </span>
                </div>
                {cause.message !== "" && <p className="message dim">{plainMessage(cause.message)}</p>}
              </li>
            ))}
          </ol>
        </div>
      </div>
    </div>
  );
}

function keyOf({ chain, level }: Explanation): string {
  const root = chain.at(-1);
  return `${level}/${root?.kind ?? ""}/${root?.name ?? ""}/${root?.condition ?? ""}`;
}

const HEADINGS = {
  Healthy: "Healthy, with warnings",
  Progressing: "In progress",
  Degraded: "Why it is degraded",
  Paused: "Paused",
  Hibernated: "Hibernated",
  Unknown: "State unknown",
} as const;

function headingOf({ deleting, item }: TreeNode): string {
  return deleting ? "Being deleted" : HEADINGS[item.state.state];
}

/** Conditions list what they summarize with stars; a star on a single line has no meaning. */
function plainMessage(message: string): string {
  return message.replace(/^\* (?!.*\n\* )/s, "");
}

/** A step may end in a command, which is offered for copying. */
function Step({ text }: { text: string }): ReactNode {
  const match = /^(.*): ((?:capstan|kubectl) .*)$/.exec(text);
  const [, words = text, command] = match ?? [];
  return (
    <>
      {words.charAt(0).toUpperCase()}
      {words.slice(1)}
      {command !== undefined && (
        <div>
          <CopyText text={command} />
        </div>
      )}
    </>
  );
}
