import type { EtcdEntry, EtcdTenant, EtcdTenants } from "@capstan/etcd";

/** A shared etcd in memory: its users, permissions and the data below each prefix. */
export class FakeTenants implements EtcdTenants {
  secured = 0;
  /** What each user may do. */
  readonly users = new Map<string, "read" | "write">();
  readonly data = new Map<string, string>();
  /** Set while etcd does not answer. */
  down = false;

  async secure(): Promise<void> {
    this.#check();
    this.secured++;
  }

  async admit({ user }: EtcdTenant, writable: boolean): Promise<void> {
    this.#check();
    this.users.set(user, writable ? "write" : "read");
  }

  async expel({ user, prefix }: EtcdTenant): Promise<void> {
    await this.clear(prefix);
    this.users.delete(user);
  }

  async bytesInUse(): Promise<number> {
    this.#check();
    return [...this.data].reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  }

  async *read(prefix: string): AsyncGenerator<EtcdEntry[]> {
    this.#check();
    for (const [key, value] of this.data) if (key.startsWith(prefix)) yield [{ key: key.slice(prefix.length), value }];
  }

  async measure(prefix: string): Promise<number> {
    this.#check();
    return [...this.data].reduce(
      (sum, [key, value]) => (key.startsWith(prefix) ? sum + key.length + value.length : sum),
      0,
    );
  }

  async clear(prefix: string): Promise<void> {
    this.#check();
    for (const key of this.data.keys()) if (key.startsWith(prefix)) this.data.delete(key);
  }

  async write(prefix: string, entries: readonly EtcdEntry[]): Promise<void> {
    this.#check();
    for (const { key, value } of entries) this.data.set(`${prefix}${key}`, value);
  }

  #check(): void {
    if (this.down) throw new Error("connect ECONNREFUSED");
  }
}
