/** The gRPC status codes that matter here, https://grpc.github.io/grpc/core/md_doc_statuscodes.html */
export const GRPC = {
  ok: 0,
  deadlineExceeded: 4,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const;

/** That a call came to nothing: with the status of the server, or with the one that fits what happened on the way. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** That the other end does not keep to gRPC: it is something else, or broken. */
export function violation(what: string, options?: ErrorOptions): GrpcError {
  return new GrpcError(GRPC.internal, `protocol error: ${what}`, options);
}
