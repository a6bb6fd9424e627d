export function CreatePage(): React.ReactNode {
  return <p>CreatePage</p>;
}
