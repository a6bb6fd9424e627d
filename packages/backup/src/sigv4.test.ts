import { expect, test } from "vitest";
import { encode, sha256, signRequest } from "./sigv4.ts";

test("signatures are those of the worked example in the documentation of S3", () => {
  const headers = signRequest({
    method: "GET",
    url: new URL("https://examplebucket.s3.amazonaws.com/test.txt"),
    headers: { range: "bytes=0-9" },
    bodyHash: sha256(""),
    region: "us-east-1",
    accessKeyId: "AKIAIOSFODNN7EXAMPLE",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    nowMs: Date.UTC(2013, 4, 24),
  });
  expect(headers["authorization"]).toBe(
    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  );
});

test("all but unreserved characters are encoded", () => {
  expect(encode("a-b_c.d~e f/g*h(i)'!")).toBe("a-b_c.d~e%20f%2Fg%2Ah%28i%29%27%21");
});
