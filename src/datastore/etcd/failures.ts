import { BirdfeedError, type ErrorCode } from '../../core/errors.ts';
import { GRPC, GrpcError } from './grpc-error.ts';
import type { EtcdTlsFiles } from './options.ts';

/** What a failure's message needs to name the thing and the remedy. */
export interface FailureContext {
  /** URL of the endpoint. */
  readonly endpoint: string;
  readonly tls: EtcdTlsFiles;
  readonly username: string | undefined;
  /** How long was waited, for time-outs. */
  readonly afterMs: number;
}

interface Rule {
  readonly pattern: RegExp;
  readonly code: ErrorCode;
  readonly say: (context: FailureContext, text: string) => string;
}

/**
 * Only the text tells a wrong certificate from a dead server, and a wrong password from a wrong request. First match wins.
 * The texts are those of Node 20, OpenSSL 3 and etcd 3.4 and 3.5, and each has a test against the real thing.
 */
const RULES: readonly Rule[] = [
  // etcd
  rule(
    /authentication failed, invalid user ID or password/,
    'BF_DATASTORE_AUTH',
    ({ endpoint, username }) =>
      `etcd at ${endpoint} refused the user ${quoted(username)}: unknown user or wrong password (--etcd-username, --etcd-password)`,
  ),
  rule(
    /permission denied/i,
    'BF_DATASTORE_AUTH',
    ({ endpoint, username }) =>
      `etcd at ${endpoint} does not let the user ${quoted(username)} read all that is watched: its roles need read permission on each watched prefix, the key itself included`,
  ),
  rule(
    /user name is empty/,
    'BF_DATASTORE_AUTH',
    ({ endpoint }) => `etcd at ${endpoint} demands a login: give --etcd-username and --etcd-password`,
  ),
  rule(
    /invalid auth token|revision of auth store is old/,
    'BF_DATASTORE_AUTH',
    ({ endpoint }) =>
      `etcd at ${endpoint} refuses the tokens that it gives out; do the clocks of its members agree?`,
  ),
  // The certificate that etcd shows
  rule(
    /unable to verify|unable to get (local )?issuer|self[- ]signed/i,
    'BF_DATASTORE_TLS',
    ({ endpoint, tls }, text) =>
      tls.caFile === undefined
        ? `the certificate of etcd at ${endpoint} is signed by no known CA; give its CA with --etcd-ca-file (${text})`
        : `the certificate of etcd at ${endpoint} is not signed by the CA in ${tls.caFile} (--etcd-ca-file): ${text}`,
  ),
  rule(
    /does not match certificate's altnames/,
    'BF_DATASTORE_TLS',
    ({ endpoint }, text) =>
      `the certificate of etcd at ${endpoint} is for another name; use a name that it holds in --etcd-endpoints (${text})`,
  ),
  rule(
    /certificate (has expired|is not yet valid)/,
    'BF_DATASTORE_TLS',
    ({ endpoint }, text) =>
      `the certificate of etcd at ${endpoint} or that of its CA is out of date, or this machine's clock is wrong: ${text}`,
  ),
  // The certificate that we show
  rule(
    /alert (bad certificate|certificate required|unknown ca|certificate unknown|certificate expired|unsupported certificate|access denied)/i,
    'BF_DATASTORE_TLS',
    ({ endpoint, tls }, text) =>
      tls.certFile === undefined
        ? `etcd at ${endpoint} demands a client certificate: give --etcd-cert-file and --etcd-key-file (${text})`
        : `etcd at ${endpoint} refused the client certificate in ${tls.certFile} (--etcd-cert-file): ${text}`,
  ),
  // TLS spoken to plain text, and the reverse
  rule(
    /during the TLS handshake|before secure TLS connection was established|wrong version number|packet length too long/i,
    'BF_DATASTORE_TLS',
    ({ endpoint }, text) =>
      `etcd at ${endpoint} did not complete the TLS handshake; if it has no TLS, write http:// in --etcd-endpoints (${text})`,
  ),
  rule(
    /SSL routines|ERR_SSL|alert number/,
    'BF_DATASTORE_TLS',
    ({ endpoint }, text) => `TLS with etcd at ${endpoint} failed: ${text}`,
  ),
  // Not etcd
  rule(
    /unknown service|protocol error|bad http/i,
    'BF_DATASTORE_PROTOCOL',
    ({ endpoint }, text) => `what answers at ${endpoint} does not speak etcd v3: ${text}`,
  ),
];

/** Any error met while talking to etcd, with the endpoint, the cause and, where there is one, the remedy in the message. */
export function failureOf(error: unknown, context: FailureContext): BirdfeedError {
  if (error instanceof BirdfeedError) return error;
  const [status, text] = [statusOf(error), textOf(error)];
  const details = { endpoint: context.endpoint };
  const known = RULES.find(({ pattern }) => pattern.test(text));
  if (known !== undefined)
    return new BirdfeedError(known.code, known.say(context, text), { cause: error, details });
  if (status === GRPC.deadlineExceeded) return silence(context, { cause: error });
  const code =
    status === GRPC.unimplemented || status === GRPC.resourceExhausted
      ? 'BF_DATASTORE_PROTOCOL'
      : 'BF_DATASTORE_UNREACHABLE';
  return new BirdfeedError(code, `cannot use etcd at ${context.endpoint}: ${text}`, {
    cause: error,
    details,
  });
}

/** That nothing came back in time. */
export function silence(
  { endpoint, afterMs }: FailureContext,
  options: { cause?: unknown } = {},
): BirdfeedError {
  const message = `etcd at ${endpoint} did not answer within ${afterMs / 1000} s`;
  return new BirdfeedError('BF_DATASTORE_UNREACHABLE', message, { ...options, details: { endpoint } });
}

/** That a read at a revision is no longer possible, since etcd has forgotten it. */
export function isCompacted(error: unknown): boolean {
  return textOf(error).includes('required revision has been compacted');
}

/** That etcd has not come to a revision yet that it once had: an older state was restored. */
export function isFutureRevision(error: unknown): boolean {
  return textOf(error).includes('required revision is a future revision');
}

/** That an answer was larger than the client takes. */
export function isTooLarge(error: unknown): boolean {
  return statusOf(error) === GRPC.resourceExhausted && /larger than max/.test(textOf(error));
}

/** That another token may help: it ran out, users or roles changed since, or authentication was turned on. */
export function wantsNewToken(error: unknown): boolean {
  return /invalid auth token|revision of auth store is old|user name is empty/.test(textOf(error));
}

/** That the server knows no users: authentication is off, and a login is not needed. */
export function isAuthOff(error: unknown): boolean {
  return textOf(error).includes('authentication is not enabled');
}

function statusOf(error: unknown): number | undefined {
  return error instanceof GrpcError ? error.status : undefined;
}

function textOf(error: unknown): string {
  // Of a name with several addresses, each of them fails.
  if (error instanceof AggregateError && error.message === '')
    return [...new Set(error.errors.map(textOf))].join('; ');
  return readable(error instanceof Error ? error.message || error.name : String(error));
}

/** Longer ones have nothing to say to people. */
const MAX_TEXT = 500;

/** Without what changes from try to try (thread ids, source lines), so that equal causes have equal texts. */
function readable(message: string): string {
  return message
    .replace(/^rpc error: code = \w+ desc = /, '')
    .replace(/\b[0-9A-F]{8,}:error:[0-9A-F]+:/, '')
    .replace(/\.\.\/deps\/[^:]+:\d+:/, '')
    .replace(/[\s\0-\x1f\x7f]+/g, ' ')
    .replace(/\.? ?$/, '')
    .slice(0, MAX_TEXT);
}

function rule(pattern: RegExp, code: ErrorCode, say: Rule['say']): Rule {
  return { pattern, code, say };
}

function quoted(name: string | undefined): string {
  return name === undefined ? '(none)' : JSON.stringify(name);
}
