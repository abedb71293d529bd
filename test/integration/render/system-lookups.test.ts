import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileExists, systemDns } from '../../../src/render/system-lookups.ts';

describe('the look-ups of this system', () => {
  it('find localhost and literal addresses without a DNS server', async () => {
    const addresses = await systemDns.addresses('localhost');
    expect(addresses.some((address) => address === '127.0.0.1' || address === '::1')).toBe(true);
    expect(await systemDns.addresses('192.0.2.7')).toEqual(['192.0.2.7']);
  });

  it('tell whether a file is there', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'bf-file-'));
    try {
      writeFileSync(join(dir, 'f'), '');
      expect(await fileExists(join(dir, 'f'))).toBe(true);
      expect(await fileExists(dir)).toBe(true);
      expect(await fileExists(join(dir, 'g'))).toBe(false);
      expect(await fileExists(join(dir, 'f', 'below'))).toBe(false);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
