import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "dist",
    target: "es2022",
    // Inlined files would be data: URLs, which the content security policy refuses for everything but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // The dashboard imports single pure functions of these; their other modules must not be bundled.
      treeshake: { moduleSideEffects: (id) => !/\/packages\/(apimachinery|capi)\/dist\//.test(id) },
    },
    chunkSizeWarningLimit: 1000,
  },
});
