import { StringDecoder } from 'node:string_decoder';

/** No object of Kubernetes is larger: etcd takes 1.5 MiB, and JSON says the same in more words. */
const MAX_LINE = 16 * 1024 * 1024;

/**
 * Cuts a stream of bytes into lines, however the bytes are divided. `push` returns the lines that are complete now; what
 * follows the last newline is never a line, since a connection may end anywhere.
 */
export function lineSplitter(): { push(chunk: Buffer): readonly string[] } {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return {
    push(chunk) {
      const lines = (rest + decoder.write(chunk)).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE) throw new Error(`a line of more than ${MAX_LINE} characters`);
      return lines.filter((line) => line !== '');
    },
  };
}
