import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Paths of PEM files. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority for one test run, in a directory of the caller's. */
export interface TestCa {
  /** Path of its own certificate, what clients trust. */
  readonly ca: string;
  /** Makes a certificate for 127.0.0.1 and localhost, for servers and clients alike. `commonName` names the file, too. */
  issue(commonName: string, options?: IssueOptions): Promise<Certificate>;
}

export interface IssueOptions {
  /** Subject alternative names instead of 127.0.0.1 and localhost, as OpenSSL writes them: `DNS:other.example`. */
  readonly names?: readonly string[];
}

/** Whether the openssl program is there: Node can make keys but no certificates. */
export function canMakeCertificates(): boolean {
  return spawnSync('openssl', ['version'], { stdio: 'ignore' }).status === 0;
}

export async function createCa(dir: string): Promise<TestCa> {
  const ca = join(dir, 'ca.pem');
  const caKey = join(dir, 'ca-key.pem');
  await openssl('req', '-x509', ...newKey(caKey), '-out', ca, '-days', '2', '-subj', '/CN=test CA');
  return { ca, issue };

  async function issue(commonName: string, options: IssueOptions = {}): Promise<Certificate> {
    const at = (ending: string) => join(dir, `${commonName}${ending}`);
    const names = options.names ?? ['IP:127.0.0.1', 'DNS:localhost'];
    const extensions = [`subjectAltName=${names.join(',')}`, 'extendedKeyUsage=serverAuth,clientAuth'];
    await writeFile(at('.ext'), `${extensions.join('\n')}\n`);
    await openssl('req', ...newKey(at('-key.pem')), '-out', at('.csr'), '-subj', `/CN=${commonName}`);
    const signing = ['-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-days', '2', '-extfile', at('.ext')];
    await openssl('x509', '-req', '-in', at('.csr'), ...signing, '-out', at('.pem'));
    return { cert: at('.pem'), key: at('-key.pem') };
  }
}

/** The PEM text of a certificate and of its key. */
export async function readCertificate(certificate: Certificate): Promise<{ cert: Buffer; key: Buffer }> {
  const [cert, key] = await Promise.all([readFile(certificate.cert), readFile(certificate.key)]);
  return { cert, key };
}

function newKey(path: string): string[] {
  return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', path];
}

async function openssl(...args: string[]): Promise<void> {
  await promisify(execFile)('openssl', args);
}
