import { BirdfeedError, type ErrorCode } from '../../core/errors.ts';
import { isObject, type JsonObject, objectAt, textAt } from './shape.ts';

/** An answer of the API server that is not what was asked for. */
export class StatusError extends Error {
  readonly status: number;
  /** `reason` of the Status object: `Expired`, `Forbidden`; empty when there is none. */
  readonly reason: string;
  /** `details.causes[].reason`, such as `ResourceVersionTooLarge`. */
  readonly causes: readonly string[];
  /** What the server asks to wait, milliseconds. */
  readonly retryAfterMs: number;

  constructor(status: number, body: unknown, retryAfter: string | undefined) {
    const object = isObject(body) ? body : {};
    super(textAt(object, 'message') || `HTTP status ${status}`);
    this.name = 'StatusError';
    this.status = status;
    this.reason = textAt(object, 'reason');
    this.causes = causesOf(object);
    this.retryAfterMs = retryMs(retryAfter, objectAt(object, 'details')['retryAfterSeconds']);
  }
}

function causesOf(status: JsonObject): readonly string[] {
  const causes = objectAt(status, 'details')['causes'];
  return Array.isArray(causes) ? causes.filter(isObject).map((cause) => textAt(cause, 'reason')) : [];
}

/** The header in its form in seconds, which is the one that API servers send; else the field of the Status object. */
function retryMs(header: string | undefined, field: unknown): number {
  const seconds = /^\d{1,5}$/.test(header ?? '') ? Number(header) : Number(field ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}

/** That a list or watch cannot go on from where it was: HTTP status 410, or an ERROR event that says the same. */
export function isExpired(error: unknown): boolean {
  return (
    error instanceof StatusError &&
    (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone')
  );
}

/** That the server does not take the position of the watch: it is from another history, or from the future. */
export function isForeignPosition(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false;
  return error.causes.includes('ResourceVersionTooLarge') || error.status === 400 || error.status === 422;
}

export function isUnknownKind(error: unknown): boolean {
  return error instanceof StatusError && error.status === 404;
}

interface Rule {
  readonly pattern: RegExp;
  readonly code: ErrorCode;
  readonly say: (server: string, text: string) => string;
}

/** What Node and OpenSSL say, and what it means for the one who runs birdfeed. First match wins. */
const RULES: readonly Rule[] = [
  {
    pattern: /unable to verify|unable to get (local )?issuer|self[- ]signed/i,
    code: 'BF_DATASTORE_TLS',
    say: (server, text) =>
      `the certificate of the Kubernetes API at ${server} is not signed by the CA of the kubeconfig, of the service account or of --k8s-ca-file: ${text}`,
  },
  {
    pattern: /does not match certificate's altnames/,
    code: 'BF_DATASTORE_TLS',
    say: (server, text) =>
      `the certificate of the Kubernetes API at ${server} is for another name (tls-server-name in the kubeconfig helps): ${text}`,
  },
  {
    pattern: /certificate (has expired|is not yet valid)/,
    code: 'BF_DATASTORE_TLS',
    say: (server, text) =>
      `the certificate of the Kubernetes API at ${server} is out of date, or this machine's clock is wrong: ${text}`,
  },
  {
    pattern: /wrong version number|SSL routines|ERR_SSL|alert number|alert (bad|unknown|certificate)/i,
    code: 'BF_DATASTORE_TLS',
    say: (server, text) => `TLS with the Kubernetes API at ${server} failed: ${text}`,
  },
];

/** Any error met while talking to an API server, as one of ours, with the server in the message. */
export function failureOf(error: unknown, server: string): BirdfeedError {
  if (error instanceof BirdfeedError) return error;
  const details = { server };
  if (error instanceof StatusError)
    return new BirdfeedError(codeOf(error), sentenceOf(error, server), { cause: error, details });
  if (error instanceof SyntaxError) return protocolError(server, 'does not speak JSON', error);
  const text = readable(error);
  const rule = RULES.find(({ pattern }) => pattern.test(text));
  if (rule !== undefined)
    return new BirdfeedError(rule.code, rule.say(server, text), { cause: error, details });
  return unreachable(server, text, error);
}

export function unreachable(server: string, text: string, cause?: unknown): BirdfeedError {
  return new BirdfeedError(
    'BF_DATASTORE_UNREACHABLE',
    `cannot use the Kubernetes API at ${server}: ${text}`,
    { cause, details: { server } },
  );
}

export function protocolError(server: string, text: string, cause?: unknown): BirdfeedError {
  return new BirdfeedError('BF_DATASTORE_PROTOCOL', `the Kubernetes API at ${server} ${text}`, {
    cause,
    details: { server },
  });
}

function codeOf({ status }: StatusError): ErrorCode {
  if (status === 401 || status === 403) return 'BF_DATASTORE_AUTH';
  if (status === 410) return 'BF_DATASTORE_COMPACTED';
  return status === 429 || status >= 500 ? 'BF_DATASTORE_UNREACHABLE' : 'BF_DATASTORE_PROTOCOL';
}

function sentenceOf({ status, message }: StatusError, server: string): string {
  switch (status) {
    case 401:
      return `the Kubernetes API at ${server} does not accept the credentials (token, client certificate or exec plugin): ${message}`;
    case 403:
      return `the Kubernetes API at ${server} does not let birdfeed read what it needs: ${message}`;
    case 429:
      return `the Kubernetes API at ${server} has too much to do: ${message}`;
    default:
      return `the Kubernetes API at ${server} answered with status ${status}: ${message}`;
  }
}

/** Without what changes from try to try, so that equal causes have equal texts. */
function readable(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text
    .replace(/\b[0-9A-F]{8,}:error:[0-9A-F]+:/, '')
    .replace(/\.\.\/deps\/[^:]+:\d+:/, '')
    .replace(/\s+/g, ' ')
    .trim();
}
