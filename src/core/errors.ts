/**
 * Every error a user can meet has a code in this catalogue: which stage it belongs to, whether trying again
 * without a change can help (a *condition*) or not (a *verdict*), and the exit status when it ends a `--onetime`
 * run or a command (sysexits.h). A code, once released, is never used for another meaning.
 */
export const EXIT = {
  ok: 0,
  findings: 1,
  usage: 64,
  dataError: 65,
  unavailable: 69,
  cannotCreate: 73,
  tempFail: 75,
  noPermission: 77,
  config: 78,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

interface CatalogueEntry {
  readonly stage: Stage;
  readonly retryable: boolean;
  readonly exit: ExitCode;
}

export type Stage = 'config' | 'datastore' | 'model' | 'render' | 'generation' | 'reload' | 'app';

export const ERROR_CATALOGUE = {
  // config
  BF_USAGE: { stage: 'config', retryable: false, exit: EXIT.usage },
  BF_CONFIG_FILE: { stage: 'config', retryable: false, exit: EXIT.config },
  BF_RESOURCE_FILE: { stage: 'config', retryable: false, exit: EXIT.config },
  // datastore
  BF_DATASTORE_UNREACHABLE: { stage: 'datastore', retryable: true, exit: EXIT.tempFail },
  BF_DATASTORE_AUTH: { stage: 'datastore', retryable: true, exit: EXIT.tempFail },
  BF_DATASTORE_TLS: { stage: 'datastore', retryable: true, exit: EXIT.tempFail },
  BF_DATASTORE_COMPACTED: { stage: 'datastore', retryable: true, exit: EXIT.tempFail },
  BF_DATASTORE_REGRESSED: { stage: 'datastore', retryable: true, exit: EXIT.tempFail },
  BF_DATASTORE_PROTOCOL: { stage: 'datastore', retryable: true, exit: EXIT.tempFail },
  BF_FIXTURE_INVALID: { stage: 'datastore', retryable: true, exit: EXIT.dataError },
  // model
  BF_NODE_ABSENT: { stage: 'model', retryable: true, exit: EXIT.tempFail },
  BF_RESOURCE_INVALID: { stage: 'model', retryable: false, exit: EXIT.dataError },
  // render
  BF_TEMPLATE_MISSING: { stage: 'render', retryable: false, exit: EXIT.dataError },
  BF_TEMPLATE_SYNTAX: { stage: 'render', retryable: false, exit: EXIT.dataError },
  BF_TEMPLATE_FAILED: { stage: 'render', retryable: false, exit: EXIT.dataError },
  BF_KEY_MISSING: { stage: 'render', retryable: false, exit: EXIT.dataError },
  // generation
  BF_CACHE_UNWRITABLE: { stage: 'generation', retryable: true, exit: EXIT.cannotCreate },
  BF_CACHE_PERMISSION: { stage: 'generation', retryable: true, exit: EXIT.noPermission },
  BF_CACHE_LOCKED: { stage: 'generation', retryable: true, exit: EXIT.tempFail },
  BF_LOCK_UNAVAILABLE: { stage: 'generation', retryable: false, exit: EXIT.config },
  BF_GENERATION_REFUSED: { stage: 'generation', retryable: false, exit: EXIT.dataError },
  BF_GENERATION_HELD: { stage: 'generation', retryable: false, exit: EXIT.tempFail },
  BF_DEST_REFUSED: { stage: 'generation', retryable: false, exit: EXIT.config },
  BF_DEST_UNWRITABLE: { stage: 'generation', retryable: true, exit: EXIT.cannotCreate },
  BF_DEST_PERMISSION: { stage: 'generation', retryable: true, exit: EXIT.noPermission },
  BF_CHECK_FAILED: { stage: 'generation', retryable: false, exit: EXIT.dataError },
  BF_CHECK_UNAVAILABLE: { stage: 'generation', retryable: true, exit: EXIT.dataError },
  // reload
  BF_BIRD_UNREACHABLE: { stage: 'reload', retryable: true, exit: EXIT.unavailable },
  BF_BIRD_PERMISSION: { stage: 'reload', retryable: true, exit: EXIT.noPermission },
  BF_BIRD_REFUSED: { stage: 'reload', retryable: false, exit: EXIT.unavailable },
  BF_BIRD_PROTOCOL: { stage: 'reload', retryable: true, exit: EXIT.unavailable },
  BF_BIRD_TIMEOUT: { stage: 'reload', retryable: true, exit: EXIT.unavailable },
  BF_BIRD_DIALECT: { stage: 'reload', retryable: true, exit: EXIT.unavailable },
  BF_BIRD_DIED: { stage: 'reload', retryable: true, exit: EXIT.unavailable },
  BF_BIRD_FILE: { stage: 'reload', retryable: true, exit: EXIT.config },
  BF_BIRD_MISMATCH: { stage: 'reload', retryable: true, exit: EXIT.unavailable },
  BF_BIRD_TRIAL: { stage: 'reload', retryable: true, exit: EXIT.unavailable },
  BF_BIRD_UNDONE: { stage: 'reload', retryable: false, exit: EXIT.unavailable },
  BF_COMMAND_FAILED: { stage: 'reload', retryable: true, exit: EXIT.unavailable },
  // app
  BF_ADMIN_UNREACHABLE: { stage: 'app', retryable: true, exit: EXIT.unavailable },
  BF_INTERNAL: { stage: 'app', retryable: false, exit: EXIT.dataError },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/**
 * The only error class. `message` is one line that names the thing (file, key, field, socket) and, where there
 * is one, the remedy. `details` are log fields and never hold secrets. Foreign errors are converted at the edge
 * where they enter, with the original as `cause`.
 */
export class BirdfeedError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'BirdfeedError';
    this.code = code;
    this.details = options.details ?? {};
  }

  get stage(): Stage {
    return ERROR_CATALOGUE[this.code].stage;
  }

  /** True for a condition that may pass by itself; false for a verdict on this very input. */
  get retryable(): boolean {
    return ERROR_CATALOGUE[this.code].retryable;
  }

  get exitCode(): ExitCode {
    return ERROR_CATALOGUE[this.code].exit;
  }
}

/** Any thrown value as a BirdfeedError; what is not one already is a bug of ours and says so. */
export function asBirdfeedError(error: unknown): BirdfeedError {
  if (error instanceof BirdfeedError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new BirdfeedError('BF_INTERNAL', `internal error: ${message}`, { cause: error });
}
