import { describe, expect, it } from 'vitest';
import { BirdfeedError } from '../../../src/core/errors.ts';
import {
  type FailureContext,
  failureOf,
  isAuthOff,
  isTooLarge,
  silence,
  wantsNewToken,
} from '../../../src/datastore/etcd/failures.ts';
import { GRPC, GrpcError } from '../../../src/datastore/etcd/grpc-error.ts';

const context: FailureContext = { endpoint: 'https://e:2379', tls: {}, username: 'app', afterMs: 2_000 };
const withFiles = { ...context, tls: { caFile: '/ca.pem', certFile: '/me.pem', keyFile: '/me.key' } };

describe('failures of etcd', () => {
  it.each([
    [
      'BF_DATASTORE_UNREACHABLE',
      'cannot use etcd at https://e:2379: connect ECONNREFUSED 127.0.0.1:1',
      new Error('connect ECONNREFUSED 127.0.0.1:1'),
    ],
    [
      'BF_DATASTORE_UNREACHABLE',
      'cannot use etcd at https://e:2379: it ended the connection',
      new GrpcError(GRPC.unavailable, 'it ended the connection'),
    ],
    [
      'BF_DATASTORE_UNREACHABLE',
      'cannot use etcd at https://e:2379: etcdserver: no leader',
      new GrpcError(GRPC.unavailable, 'etcdserver: no leader'),
    ],
    [
      'BF_DATASTORE_UNREACHABLE',
      'etcd at https://e:2379 did not answer within 2 s',
      new GrpcError(GRPC.deadlineExceeded, 'no answer within 2000 ms'),
    ],
    [
      'BF_DATASTORE_AUTH',
      'refused the user "app"',
      new GrpcError(3, 'etcdserver: authentication failed, invalid user ID or password'),
    ],
    [
      'BF_DATASTORE_AUTH',
      'does not let the user "app" read',
      new GrpcError(7, 'etcdserver: permission denied'),
    ],
    [
      'BF_DATASTORE_AUTH',
      'demands a login',
      new Error('rpc error: code = InvalidArgument desc = etcdserver: user name is empty'),
    ],
    ['BF_DATASTORE_AUTH', 'refuses the tokens', new GrpcError(16, 'etcdserver: invalid auth token')],
    [
      'BF_DATASTORE_TLS',
      'give its CA with --etcd-ca-file',
      new Error('unable to verify the first certificate'),
    ],
    [
      'BF_DATASTORE_TLS',
      'is for another name',
      new Error("Hostname/IP does not match certificate's altnames: IP: 127.0.0.1"),
    ],
    ['BF_DATASTORE_TLS', 'out of date', new Error('certificate has expired')],
    [
      'BF_DATASTORE_TLS',
      'demands a client certificate: give --etcd-cert-file and --etcd-key-file',
      new Error(
        '80FCC1C07B7F0000:error:0A000412:SSL routines:ssl3_read_bytes:sslv3 alert bad certificate:../deps/openssl/openssl/ssl/record/rec_layer_s3.c:1601:SSL alert number 42\n',
      ),
    ],
    [
      'BF_DATASTORE_TLS',
      'write http://',
      new Error('Client network socket disconnected before secure TLS connection was established'),
    ],
    [
      'BF_DATASTORE_PROTOCOL',
      'does not speak etcd v3',
      new GrpcError(GRPC.unimplemented, 'unknown service etcdserverpb.KV'),
    ],
  ] as const)('%s: %s', (code, message, error) => {
    const failure = failureOf(error, context);
    expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(message)]);
    expect(failure.cause).toBe(error);
    expect(failure.details).toEqual({ endpoint: 'https://e:2379' });
  });

  it('name the file that does not do', () => {
    expect(failureOf(new Error('self-signed certificate in certificate chain'), withFiles).message).toContain(
      'not signed by the CA in /ca.pem (--etcd-ca-file)',
    );
    expect(
      failureOf(new Error('SSL routines:x:tlsv13 alert certificate required'), withFiles).message,
    ).toContain('refused the client certificate in /me.pem (--etcd-cert-file)');
  });

  it('have equal texts for equal causes, so that they are reported once', () => {
    const alert = (thread: string, line: number) =>
      failureOf(
        new Error(
          `${thread}:error:0A000412:SSL routines:ssl3_read_bytes:sslv3 alert bad certificate:../deps/openssl/a.c:${line}:SSL alert number 42\n`,
        ),
        context,
      ).message;
    expect(alert('80FCC1C07B7F0000', 1)).toBe(alert('81234567897F0000', 2));
  });

  it('pass through what is one of ours already', () => {
    const ours = new BirdfeedError('BF_INTERNAL', 'x');
    expect(failureOf(ours, context)).toBe(ours);
  });

  it('find a text in errors that have none, and in values that are no errors', () => {
    expect(
      failureOf(new AggregateError([new Error('a'), new Error('b'), new Error('a')], ''), context).message,
    ).toBe('cannot use etcd at https://e:2379: a; b');
    expect(failureOf(new TypeError(), context).message).toBe('cannot use etcd at https://e:2379: TypeError');
    expect(failureOf('Connection closed', context).message).toBe(
      'cannot use etcd at https://e:2379: Connection closed',
    );
  });

  it('have no control characters in their texts, and an end', () => {
    const hostile = new GrpcError(2, `a\u001b[2J\r\n${'b'.repeat(100_000)}`);
    expect(failureOf(hostile, context).message).toMatch(
      /^cannot use etcd at https:\/\/e:2379: a \[2J b{1,500}$/,
    );
  });

  it('say seconds', () => {
    expect(silence({ ...context, afterMs: 500 }).message).toBe(
      'etcd at https://e:2379 did not answer within 0.5 s',
    );
  });

  it('tell when a new token may help, and when none is needed', () => {
    expect(wantsNewToken(new GrpcError(16, 'etcdserver: invalid auth token'))).toBe(true);
    expect(wantsNewToken(new GrpcError(3, 'etcdserver: revision of auth store is old'))).toBe(true);
    expect(wantsNewToken(new GrpcError(7, 'etcdserver: permission denied'))).toBe(false);
    expect(isAuthOff(new GrpcError(9, 'etcdserver: authentication is not enabled'))).toBe(true);
  });

  it('tell an answer that is too large from a server that is too busy', () => {
    expect(
      isTooLarge(
        new GrpcError(GRPC.resourceExhausted, 'Received message larger than max (21494833 vs 4194304)'),
      ),
    ).toBe(true);
    expect(isTooLarge(new GrpcError(GRPC.resourceExhausted, 'etcdserver: too many requests'))).toBe(false);
  });
});
