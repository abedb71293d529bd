/**
 * JSON text as a value, in which whole numbers beyond 2^53 keep all their digits as BigInt. Error messages give a position
 * and no content, since values may be secret: JavaScript's own messages quote the text.
 */
export function parseJson(text: string): unknown {
  const value = parse(text);
  if (!/\d{16}/.test(text)) return value;
  // The same text with such numbers quoted; where the two disagree there was a number.
  const quoted = text.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  );
  return mergeNumbers(value, parse(quoted));
}

/** JSON with sorted keys left alone and BigInt as numbers. `indent` in spaces. */
export function printJson(value: unknown, indent = 0): string {
  const numbers: bigint[] = [];
  const marked = JSON.stringify(
    value,
    (_key, item: unknown) => {
      if (typeof item === 'string') return `s${item}`;
      return typeof item === 'bigint' ? `n${numbers.push(item) - 1}` : item;
    },
    indent,
  );
  if (marked === undefined) throw new Error('the value has no JSON form');
  // Every string value was marked with s and every BigInt with n; keys have no mark and are followed by a colon.
  return marked.replace(/"((?:[^"\\]|\\.)*)"(\s*:)?/g, (token, body: string, colon?: string) => {
    if (colon !== undefined) return token;
    return body.startsWith('n') ? String(numbers[Number(body.slice(1))]) : `"${body.slice(1)}"`;
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec((error as Error).message)?.[1];
    throw new Error(
      `the text is not valid JSON${position === undefined ? '' : ` (character ${Number(position) + 1})`}`,
    );
  }
}

function mergeNumbers(lossy: unknown, quoted: unknown): unknown {
  if (typeof lossy === 'number' && typeof quoted === 'string') {
    return Number.isSafeInteger(lossy) ? lossy : BigInt(quoted);
  }
  if (Array.isArray(lossy))
    return lossy.map((item, index) => mergeNumbers(item, (quoted as unknown[])[index]));
  if (typeof lossy !== 'object' || lossy === null) return lossy;
  const entries = Object.entries(lossy);
  return Object.fromEntries(
    entries.map(([key, item]) => [key, mergeNumbers(item, (quoted as Record<string, unknown>)[key])]),
  );
}
