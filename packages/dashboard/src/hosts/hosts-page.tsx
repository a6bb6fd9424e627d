export function HostsPage(): React.ReactNode {
  return <p>HostsPage</p>;
}
