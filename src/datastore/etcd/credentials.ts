import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { sha256 } from '../../core/digest.ts';
import { BirdfeedError } from '../../core/errors.ts';
import type { EtcdTlsFiles } from './options.ts';

/** The PEM texts behind the file options. */
export interface Credentials {
  readonly ca: Buffer | undefined;
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
  /** Changes when one of the files does. */
  readonly fingerprint: string;
}

/** Reads the files. Throws BF_DATASTORE_TLS naming the file and option that cannot be read or do not hold what they should. */
export async function readCredentials(files: EtcdTlsFiles): Promise<Credentials> {
  const [ca, cert, key] = await Promise.all([
    readPem(files.caFile, '--etcd-ca-file'),
    readPem(files.certFile, '--etcd-cert-file'),
    readPem(files.keyFile, '--etcd-key-file'),
  ]);
  if (cert !== undefined && key !== undefined) checkPair(cert, key, files);
  const fingerprint = [ca, cert, key].map((pem) => (pem === undefined ? '-' : sha256(pem))).join(' ');
  return { ca, cert, key, fingerprint };
}

async function readPem(path: string | undefined, option: string): Promise<Buffer | undefined> {
  if (path === undefined) return undefined;
  const pem = await readFile(path).catch((cause: unknown) => {
    throw problem(
      `cannot read ${path} (${option}): ${cause instanceof Error ? cause.message : cause}`,
      cause,
    );
  });
  // OpenSSL takes a CA file without a certificate for an empty list, and then blames the server's certificate.
  if (!pem.includes('-----BEGIN ')) throw problem(`${path} (${option}) is no PEM file`);
  return pem;
}

/** While files are being rotated, key and certificate may not belong together for a moment. */
function checkPair(cert: Buffer, key: Buffer, { certFile, keyFile }: EtcdTlsFiles): void {
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw problem(
      `${certFile} (--etcd-cert-file) and ${keyFile} (--etcd-key-file) do not go together: ${text}`,
      cause,
    );
  }
}

function problem(message: string, cause?: unknown): BirdfeedError {
  return new BirdfeedError('BF_DATASTORE_TLS', message, { cause });
}
