import { fields, list, mapOf, never, oneOf, type Shape, text, yesOrNo } from "./shape.ts";

const base64 = text(/^[A-Za-z0-9+/\s]*={0,2}\s*$/, "base64");
/** Go accepts no spaces in it. */
const BASE64: Shape = (value, at, around) => String(base64(value, at, around)).replaceAll(/\s/g, "");
const path = (data: string): string =>
  `would have the component read a file of the management host; write the content in base64 into ${data} instead`;
const command = "would run a command on the management host; remove it and use a certificate or a token";
const extensions = "is not read by the components; remove it";

/** Shape of a kubeconfig that runs no command, refers to no file and verifies the server. */
export const KUBECONFIG: Shape = fields(
  {
    apiVersion: oneOf("v1"),
    kind: oneOf("Config"),
    preferences: fields({ colors: yesOrNo }),
    "current-context": text(),
    clusters: list(
      fields({
        name: text(),
        cluster: fields(
          {
            server: text(/^https:\/\//, "an address that begins with https://"),
            "tls-server-name": text(),
            "insecure-skip-tls-verify": never,
            "certificate-authority-data": BASE64,
            "proxy-url": text(/^(https?|socks5):\/\//, "an address that begins with https://, http:// or socks5://"),
            "disable-compression": yesOrNo,
          },
          { "certificate-authority": path("certificate-authority-data"), extensions },
        ),
      }),
    ),
    users: list(
      fields({
        name: text(),
        user: fields(
          {
            "client-certificate-data": BASE64,
            "client-key-data": BASE64,
            token: text(),
            username: text(),
            password: text(),
            as: text(),
            "as-uid": text(),
            "as-groups": list(text()),
            "as-user-extra": mapOf(list(text())),
          },
          {
            exec: command,
            "auth-provider": command,
            "client-certificate": path("client-certificate-data"),
            "client-key": path("client-key-data"),
            tokenFile:
              "would have the component read a file of the management host; write the token into token instead",
            extensions,
          },
        ),
      }),
    ),
    contexts: list(
      fields({ name: text(), context: fields({ cluster: text(), user: text(), namespace: text() }, { extensions }) }),
    ),
  },
  { extensions },
);
