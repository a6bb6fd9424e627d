const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";

/** The only style elements the content security policy lets in are those that carry this. */
export function styleNonce(): string {
  return nonce;
}

// Where Mantine's scroll lock looks for it.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;
