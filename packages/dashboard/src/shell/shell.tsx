import { ActionIcon, AppShell, Button, Group, Kbd, Menu, Modal, Table, useMantineColorScheme } from "@mantine/core";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { queryClient } from "../api/query-client.ts";
import { signOut, useSession } from "../api/session.ts";
import { useConnection } from "../live/live.tsx";
import { type Command, KEYS, KeySequence } from "./keyboard.ts";

/** The frame around every page: navigation, the signed-in user, and the state of the live connection. */
export function Shell(): ReactNode {
  const [help, setHelp] = useState(false);
  useKeys(() => setHelp(true));
  const connection = useConnection();
  const navigate = useNavigate();
  useEffect(() => {
    if (connection !== "signed-out") return;
    queryClient.removeQueries({ queryKey: ["session"] });
    void navigate({ to: "/sign-in" });
  }, [connection, navigate]);
  return (
    <AppShell header={{ height: 52 }} padding={0}>
      <AppShell.Header>
        <a className="skip" href="#content">
          Skip to content
        </a>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" component="nav" aria-label="Main">
          <Group gap="md" wrap="nowrap">
            <Link to="/clusters" className="brand" aria-label="Capstan">
              <img src="/capstan.svg" width="24" height="24" alt="" /> <span className="from-sm">Capstan</span>
            </Link>
            <Link to="/clusters" className="nav" activeProps={{ "aria-current": "page" }}>
              Clusters
            </Link>
            <Link to="/hosts" className="nav" activeProps={{ "aria-current": "page" }}>
              Hosts
            </Link>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <LiveMark />
            <SchemeButton />
            <ActionIcon
              variant="default"
              aria-label="Keyboard shortcuts"
              onClick={() => setHelp(true)}
              className="from-sm"
            >
              ?
            </ActionIcon>
            <UserMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Main id="content" tabIndex={-1}>
        <Outlet />
      </AppShell.Main>
      <Modal opened={help} onClose={() => setHelp(false)} title="Keyboard" closeButtonProps={{ "aria-label": "Close" }}>
        <Table>
          <Table.Tbody>
            {KEYS.map(({ keys, does }) => (
              <Table.Tr key={keys}>
                <Table.Td>
                  {keys.split(" ").map((key) => (
                    <Kbd key={key} mr={4}>
                      {key}
                    </Kbd>
                  ))}
                </Table.Td>
                <Table.Td>{does}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Modal>
    </AppShell>
  );
}

/** Shows when the displayed data may be stale. */
function LiveMark(): ReactNode {
  const connection = useConnection();
  if (connection === "idle") return null;
  const text = {
    live: "Live",
    connecting: "Connecting …",
    lost: "Connection lost, reconnecting …",
    "signed-out": "Signed out",
  };
  return (
    <span className={`live live-${connection}`} role="status">
      <span className={connection === "live" ? "from-sm" : ""}>{text[connection]}</span>
    </span>
  );
}

function SchemeButton(): ReactNode {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const next = { auto: "dark", dark: "light", light: "auto" } as const;
  const marks = { auto: "◐", dark: "☾", light: "☀" };
  return (
    <ActionIcon
      variant="default"
      aria-label={`Colours: ${colorScheme}; change to ${next[colorScheme]}`}
      onClick={() => setColorScheme(next[colorScheme])}
    >
      {marks[colorScheme]}
    </ActionIcon>
  );
}

function UserMenu(): ReactNode {
  const navigate = useNavigate();
  const session = useSession();
  const leave = (): void => {
    void signOut().finally(() => {
      queryClient.clear();
      void navigate({ to: "/sign-in" });
    });
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" size="compact-md" fw={500} className="user">
          {session?.user ?? "…"}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Capstan {session?.version}</Menu.Label>
        <Menu.Item onClick={leave}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function useKeys(onHelp: () => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    const sequence = new KeySequence();
    const run: Record<Command, () => void> = {
      filter: () => document.getElementById("filter")?.focus(),
      clusters: () => void navigate({ to: "/clusters" }),
      hosts: () => void navigate({ to: "/hosts" }),
      create: () => void navigate({ to: "/create" }),
      help: onHelp,
    };
    const onKey = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement | null;
      const typing = target?.closest("input, textarea, select, .cm-editor") instanceof HTMLElement;
      if (typing && event.key === "Escape") target?.blur();
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      const command = sequence.press(event.key, event.timeStamp);
      if (command === undefined) return;
      event.preventDefault();
      run[command]();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate, onHelp]);
}
