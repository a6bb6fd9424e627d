import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { freePorts } from "../../real-kubernetes/index.ts";
import { pythonPrograms } from "./python.ts";
import { eventually } from "./timing.ts";

const MOTO = "5.2.5";
const POLICY = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Action: "s3:*", Resource: "*" }],
});
/** What is asked for before anybody has a key: a user, its rights, its key, a bucket. */
const WITHOUT_KEY = 4;

/** moto: an S3 server of another hand, which checks signatures with Amazon's own library. */
export class ObjectStore {
  readonly endpoint: string;
  readonly bucket = "backups";
  readonly #server: ChildProcess;
  accessKeyId = "";
  secretAccessKey = "";

  private constructor(endpoint: string, server: ChildProcess) {
    this.endpoint = endpoint;
    this.#server = server;
  }

  /** `pageSize`: how many objects one answer lists at most. */
  static async start(options: { pageSize?: number } = {}): Promise<ObjectStore> {
    // Not all of its server's dependencies: those of other services of Amazon's are three times as much.
    const home = await pythonPrograms(`moto-${MOTO}`, [`moto[s3]==${MOTO}`, "flask", "flask-cors"]);
    const [port = 0] = await freePorts(1);
    const server = spawn(join(home, "bin/moto_server"), ["-H", "127.0.0.1", "-p", String(port)], {
      stdio: "ignore",
      env: {
        ...process.env,
        INITIAL_NO_AUTH_ACTION_COUNT: String(WITHOUT_KEY),
        MOTO_S3_DEFAULT_MAX_KEYS: String(options.pageSize ?? 1000),
      },
    });
    const store = new ObjectStore(`http://127.0.0.1:${port}`, server);
    try {
      await eventually("moto", async () => (await fetch(`${store.endpoint}/moto-api/`)).ok);
      await store.#prepare();
      return store;
    } catch (error) {
      store.close();
      throw error;
    }
  }

  close(): void {
    this.#server.kill();
  }

  async #prepare(): Promise<void> {
    await this.#iam({ Action: "CreateUser" });
    await this.#iam({ Action: "PutUserPolicy", PolicyName: "backups", PolicyDocument: POLICY });
    const key = await this.#iam({ Action: "CreateAccessKey" });
    this.accessKeyId = /<AccessKeyId>(.*)<\/AccessKeyId>/.exec(key)?.[1] ?? "";
    this.secretAccessKey = /<SecretAccessKey>(.*)<\/SecretAccessKey>/.exec(key)?.[1] ?? "";
    await fetch(`${this.endpoint}/${this.bucket}`, { method: "PUT" });
  }

  async #iam(form: Record<string, string>): Promise<string> {
    // The server knows by the scope of a signature which service is meant.
    const authorization =
      "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=x";
    const body = new URLSearchParams({ Version: "2010-05-08", UserName: "capstan", ...form });
    const answer = await fetch(this.endpoint, { method: "POST", headers: { authorization }, body });
    if (!answer.ok) throw new Error(`moto, ${form["Action"]}: ${answer.status} ${await answer.text()}`);
    return await answer.text();
  }
}
