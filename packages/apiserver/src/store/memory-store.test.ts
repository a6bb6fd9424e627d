import { memoryStore } from "./memory-store.ts";
import { storeSuite } from "./testing/store-suite.ts";

storeSuite("memoryStore", async () => {
  const store = memoryStore();
  return {
    store,
    reopen: async () => {
      await store.load();
      return store;
    },
  };
});
