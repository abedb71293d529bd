import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expandCommand } from '../../../src/reload/shell-words.ts';

const paths = { src: '/c/.stage/bird.conf', dest: '/etc/bird/bird.conf' };

test.each([
  ['bird -p -c {{.src}}', 'bird -p -c /c/.stage/bird.conf'],
  ['bird -p -c {{ src }}', 'bird -p -c /c/.stage/bird.conf'],
  ['cp {{src}} {{.dest}}', 'cp /c/.stage/bird.conf /etc/bird/bird.conf'],
  ['nginx -t -c "{{.src}}"', 'nginx -t -c "/c/.stage/bird.conf"'],
  ["echo '{{src}}'", "echo '/c/.stage/bird.conf'"],
  ['echo {{other}} {{ .Src }}', 'echo {{other}} {{ .Src }}'],
  ['awk \'{print "{{src}}"}\'', 'awk \'{print "/c/.stage/bird.conf"}\''],
])('%s', (command, expanded) => {
  expect(expandCommand(command, paths)).toBe(expanded);
});

test('a path stays one word and is not interpreted, in every way to quote it', () => {
  const parts = fc.constantFrom(
    'a',
    ' ',
    "'",
    '"',
    '$HOME',
    '`id`',
    '\\',
    '\n',
    ';',
    '*',
    '{{dest}}',
    '$(id)',
  );
  const awkward = fc.array(parts, { minLength: 1, maxLength: 6 }).map((all) => `/${all.join('')}`);
  fc.assert(
    fc.property(awkward, (src) => {
      const command = expandCommand(`printf '%s\\0' {{src}} "{{src}}" '{{src}}' x\\"{{src}}`, {
        src,
        dest: '/d',
      });
      const { stdout } = spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' });
      expect(stdout.split('\0')).toEqual([src, src, src, `x"${src}`, '']);
    }),
    { numRuns: 60 },
  );
});
