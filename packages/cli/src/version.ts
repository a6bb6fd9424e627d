/** Version of capstan. */
export const VERSION = "0.1.0";
