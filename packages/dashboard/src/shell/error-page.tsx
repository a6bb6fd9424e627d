import { Button, Title } from "@mantine/core";
import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** Shown when rendering a page fails. */
export function ErrorPage({ error, reset }: ErrorComponentProps): ReactNode {
  return (
    <main className="page">
      <Title order={1} size="h2">
        This page cannot be shown
      </Title>
      <p role="alert">{error instanceof Error ? error.message : String(error)}</p>
      <Button onClick={() => (reset(), window.location.reload())}>Try again</Button>
    </main>
  );
}

/** Shown for an unknown URL. */
export function NotFoundPage(): ReactNode {
  return (
    <main className="page">
      <Title order={1} size="h2">
        Page not found
      </Title>
      <p>
        <Link to="/clusters">All clusters</Link>
      </p>
    </main>
  );
}
