import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { generateTemplateReference } from '../../../scripts/generate-template-reference.mjs';

describe('the template reference', () => {
  it('is what the tables and types say today (else: node scripts/generate-template-reference.mjs)', {
    timeout: 30_000,
  }, async () => {
    const text = await generateTemplateReference();
    expect(await readFile(new URL('../../../docs/template-reference.md', import.meta.url), 'utf8')).toBe(
      text,
    );
    for (const name of [
      '`getv(key, default)`',
      '`value | bird_string`',
      '### Session',
      '`sourceAddress`',
      '`check_main`',
    ]) {
      expect(text.replaceAll('\\|', '|')).toContain(name);
    }
  });
});
