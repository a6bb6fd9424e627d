import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "dist",
    target: "es2022",
    // Inlined files would be data: addresses, which the page's content security policy refuses for everything but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Of these the page takes single pure functions; their other modules must not come along.
      treeshake: { moduleSideEffects: (id) => !/\/packages\/(apimachinery|capi)\/dist\//.test(id) },
    },
    chunkSizeWarningLimit: 1000,
  },
});
