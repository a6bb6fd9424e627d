const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";

/** Returns the nonce that style elements need to be allowed by the content security policy. */
export function styleNonce(): string {
  return nonce;
}

// Where Mantine's scroll lock looks for it.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;
