import { type CSSVariablesResolver, createTheme } from "@mantine/core";

/** Mantine theme with colours that meet WCAG AA contrast in both colour schemes. */
export const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: "md",
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  cursorType: "pointer",
});

/** Overrides Mantine's grey text colours, which have too little contrast. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": "#495057",
    "--mantine-color-placeholder": "#5c636a",
    "--mantine-color-error": "#b02a2a",
  },
  dark: {
    "--mantine-color-dimmed": "#b4b8bf",
    "--mantine-color-placeholder": "#a0a5ad",
    "--mantine-color-error": "#ff8787",
  },
});
