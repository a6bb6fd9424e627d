export function ClusterPage(): React.ReactNode {
  return <p>ClusterPage</p>;
}
