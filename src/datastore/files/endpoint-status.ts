import { join } from 'node:path';
import { BirdfeedError } from '../../core/errors.ts';
import { endpointStatusKey } from '../keys.ts';
import type { Source } from '../types.ts';
import { createDirectorySource, type DirectorySourceOptions } from './directory-source.ts';
import type { FileReader } from './file-set.ts';
import { isHidden, isLeftover } from './names.ts';

/** Where Felix writes status files: `$CALICO_ENDPOINT_STATUS_PATH_PREFIX/endpoint-status`, by default in /var/run/calico. */
export function endpointStatusDirectory(env: Readonly<Record<string, string | undefined>>): string {
  return join(env['CALICO_ENDPOINT_STATUS_PATH_PREFIX'] || '/var/run/calico', 'endpoint-status');
}

/**
 * The status files of local workloads, one JSON file each (`{"ifaceName","mac","ipv4Nets","ipv6Nets","bgpPeerName"}`,
 * libcalico-go `lib/epstatusfile`). A node without such workloads may have no directory: that is an empty one, as it is
 * for Calico.
 */
export function createEndpointStatusSource(directory: string, options: DirectorySourceOptions): Source {
  return createDirectorySource<string>(
    {
      kind: 'files',
      path: directory,
      accepts: { entry: (name) => !isHidden(name) && !isLeftover(name), file: (path) => !path.includes('/') },
      reader: endpointStatusReader,
      whenMissing: 'empty',
    },
    options,
  );
}

export const endpointStatusReader: FileReader<string> = {
  parse(path, bytes) {
    const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
    try {
      // Written anew in one form, so that a rewrite with other spaces changes nothing.
      return JSON.stringify(JSON.parse(text));
    } catch (error) {
      throw new BirdfeedError('BF_FIXTURE_INVALID', `${path} is not JSON`, {
        cause: error,
        details: { file: path },
      });
    }
  },
  assemble: (files) => ({
    values: new Map([...files].map(([name, value]) => [endpointStatusKey(name), value])),
    problems: [],
  }),
};
