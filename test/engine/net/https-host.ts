/**
 * An https server on 127.0.0.1 with a certificate authority of its own, for tests of the download guard.
 * Invariant: `close` ends every connection. The certificate is valid for 127.0.0.1, ::1, localhost and files.example.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A key and its self-signed certificate, PEM; the certificate is also the authority to trust. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** A running server. */
export interface HttpsHost {
  readonly port: number;
  close(): Promise<void>;
}

/** Makes a certificate with openssl, in a folder that is removed again. */
export function makeCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), "parley-cert-"));
  const key = join(folder, "key.pem");
  const cert = join(folder, "cert.pem");
  const names = "subjectAltName=DNS:localhost,DNS:files.example,IP:127.0.0.1,IP:::1";
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const subject = ["-subj", "/CN=localhost", "-addext", names, "-days", "2"];
  try {
    execFileSync("openssl", ["req", "-x509", ...curve, ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" });
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Starts the server on a port the system picks. */
export async function startHttpsHost(certificate: Certificate, handle: RequestListener): Promise<HttpsHost> {
  const server = createServer({ key: certificate.key, cert: certificate.cert }, handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
