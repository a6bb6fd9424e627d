import { expect, test } from "vitest";
import { LiveOutput } from "./live-output.ts";
import { redact } from "./redact.ts";

const JWT = `eyJ${"h".repeat(20)}.eyJ${"p".repeat(40)}.${"s".repeat(40)}`;
const KEY = `-----BEGIN EC PRIVATE KEY-----\n${"MHcCAQEEIIrYSSNQ\n".repeat(5)}-----END EC PRIVATE KEY-----`;
const TEXT = `[preflight] ok
token: abcdef.0123456789abcdef and more
kubeadm join --token
  abcdef.fedcba9876543210 --certificate-key 00112233
${KEY}
password:
  hunter2
"secret": "hunter3"
https://me:hunter4@mirror.example/x
using ${JWT}
secret
: hunter5
the end, without a line break`;
const SECRETS = ["0123456789abcdef", "fedcba9876543210", "00112233", "IIrYSSNQ", "hunter", "ppppp"];

const inPieces = (text: string, size: number): string[] => {
  const live = new LiveOutput();
  const shown: string[] = [];
  for (let at = 0; at < text.length; at += size) shown.push(live.push(text.slice(at, at + size)));
  return [...shown, live.end()];
};

test("secrets that lie across pieces are left out, whatever the pieces", () => {
  const whole = redact(TEXT);
  for (const secret of SECRETS) expect(whole).not.toContain(secret);
  for (let size = 1; size <= TEXT.length; size++) expect(inPieces(TEXT, size).join("")).toBe(whole);
});

test("lines are shown as they come", () => {
  const live = new LiveOutput();
  expect(live.push("pulling images\nwait")).toBe("pulling images\n");
  expect(live.push("ing\n")).toBe("waiting\n");
});

test("what comes before a key is shown while the key is held back", () => {
  const live = new LiveOutput();
  expect(live.push(`writing\n${KEY.slice(0, 60)}`)).toBe("writing\n");
  expect(live.push(`${KEY.slice(60)}\ndone\n`)).toBe("***\ndone\n");
});

test("a key without an end, and a line without one, do not grow for ever and are never shown", () => {
  const live = new LiveOutput();
  const line = `${"a".repeat(60)}\n`;
  const shown = [live.push("-----BEGIN RSA PRIVATE KEY-----\n")];
  for (let i = 0; i < 5000; i++) shown.push(live.push(line));
  expect([...shown, live.end()].join("")).toBe("***");
  const long = new LiveOutput();
  const words = "abcdef.0123456789abcdef ".repeat(6000);
  const said = Array.from({ length: words.length / 100 }, (_, i) => long.push(words.slice(i * 100, i * 100 + 100)));
  expect([...said, long.push("\nnext\n"), long.end()].join("")).toBe("***\nnext\n");
});
