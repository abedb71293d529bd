import { describe, expect, it } from 'vitest';
import { dialectOf, targetsFor, usesSocket } from '../../../src/app/bird-setup.ts';
import { resolveOptions } from '../../../src/config/load.ts';
import type { OptionName } from '../../../src/config/options.ts';

function options(flags: Partial<Record<OptionName, string>> = {}) {
  return resolveOptions(new Map(Object.entries(flags) as [OptionName, string][]), {}, null).options;
}

describe('which BIRD is told', () => {
  it.each([
    ['1.6.8', 'bird1'],
    ['2.0.12', 'bird2'],
    ['3.1.8', 'bird2'],
    ['v0.3.3+birdv1.6.8', 'bird1-calico'],
  ])('BIRD %s speaks %s', (version, dialect) => {
    expect(dialectOf(version)).toBe(dialect);
  });

  it('is nobody on a laptop with fixtures, unless a socket is named', () => {
    expect(usesSocket(options())).toBe(true);
    expect(usesSocket(options({ fixtures: '/f' }))).toBe(false);
    expect(usesSocket(options({ fixtures: '/f', controlSocket: '/s' }))).toBe(true);
    expect(usesSocket(options({ reload: 'none' }))).toBe(false);
  });

  it('takes sockets in the order of the files, or by name', () => {
    const files = ['bird.cfg', 'bird6.cfg'];
    expect(targetsFor(options({ controlSocket: '/a,/b' }), files)).toEqual([
      { file: 'bird.cfg', socket: '/a' },
      { file: 'bird6.cfg', socket: '/b' },
    ]);
    expect(targetsFor(options({ controlSocket: 'bird6.cfg=/b' }), files)).toEqual([
      { file: 'bird6.cfg', socket: '/b' },
    ]);
    expect(targetsFor(options(), ['bird.conf'])).toEqual([
      { file: 'bird.conf', socket: '/run/bird/bird.ctl' },
    ]);
  });

  it('names the file without a socket, and a socket for no file', () => {
    expect(() => targetsFor(options({ controlSocket: '/a' }), ['bird.cfg', 'bird6.cfg'])).toThrow(
      'no control socket for bird6.cfg; give one --control-socket for each of bird.cfg, bird6.cfg',
    );
    expect(() => targetsFor(options({ controlSocket: 'x.conf=/a' }), ['bird.conf'])).toThrow(
      'no such file is rendered; there is bird.conf',
    );
  });
});
