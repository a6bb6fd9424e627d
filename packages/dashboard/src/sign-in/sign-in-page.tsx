import { Button, Group, Paper, PasswordInput, Text, Title } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { queryClient } from "../api/query-client.ts";
import { signIn } from "../api/session.ts";
import { live } from "../live/live.tsx";
import { Notice } from "../ui/notice.tsx";

type Credentials = Parameters<typeof signIn>[0];

/** Signs users in with the code in the fragment of a one-time link, a token or a client certificate. */
export function SignInPage(): ReactNode {
  const navigate = useNavigate();
  const [token, setToken] = useState("");
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const used = useRef(false);

  const enter = (credentials: Credentials): void => {
    setBusy(true);
    setError("");
    signIn(credentials)
      .then((session) => {
        queryClient.setQueryData(["session"], session);
        live.reconnect();
        return navigate({ to: "/clusters", replace: true });
      })
      .catch((problem: unknown) => setError(problem instanceof Error ? problem.message : String(problem)))
      .finally(() => setBusy(false));
  };

  useEffect(() => {
    const code = window.location.hash.slice(1);
    if (code === "" || used.current) return;
    used.current = true;
    window.history.replaceState(null, "", "/sign-in");
    enter({ code });
  });

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    enter({ token });
  };

  return (
    <main className="sign-in">
      <Paper withBorder p="lg" radius="md">
        <Title order={1} size="h3" mb="xs">
          Sign in to Capstan
        </Title>
        <Text className="dim" mb="md">
          Open the link that <code>capstan up</code> printed (<code>capstan dashboard</code> prints a new one), or use a
          token of the management API.
        </Text>
        {error !== "" && (
          <Notice tone="bad" title="Not signed in">
            {error}
          </Notice>
        )}
        <form onSubmit={submit}>
          <PasswordInput
            label="Bearer token"
            description="For example: kubectl create token NAME"
            value={token}
            autoComplete="off"
            onChange={(event) => setToken(event.currentTarget.value)}
          />
          <Group mt="md">
            <Button type="submit" loading={busy} disabled={token === ""}>
              Sign in
            </Button>
            {window.location.protocol === "https:" && (
              <Button variant="default" onClick={() => enter({ certificate: true })}>
                Use client certificate
              </Button>
            )}
          </Group>
        </form>
      </Paper>
    </main>
  );
}
