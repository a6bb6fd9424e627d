/** Bare metal as machines. */
export {};
