import type { ReactNode } from "react";

interface NoticeProps {
  readonly tone: "good" | "bad";
  readonly title?: string;
  readonly children: ReactNode;
}

/** A notice to the user, which screen readers announce at once when its tone is bad. */
export function Notice({ tone, title, children }: NoticeProps): ReactNode {
  return (
    <div className={`notice notice-${tone}`} role={tone === "bad" ? "alert" : "status"}>
      {title !== undefined && <strong>{title}</strong>}
      <div>{children}</div>
    </div>
  );
}
