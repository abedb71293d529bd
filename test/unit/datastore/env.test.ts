import { describe, expect, it } from 'vitest';
import { createEnvSource, type Environment } from '../../../src/datastore/env.ts';
import type { SourceEvent } from '../../../src/datastore/types.ts';

async function eventsOf(
  env: Environment,
  prefixes: string[],
  during = (_relist: () => void) => {},
): Promise<SourceEvent[]> {
  const events: SourceEvent[] = [];
  const abort = new AbortController();
  const source = createEnvSource(env);
  const mounts = prefixes.map((prefix) => ({ prefix, required: true }));
  const running = source.run(mounts, (event) => events.push(event), abort.signal);
  during(() => source.relist());
  abort.abort();
  await running;
  source.relist();
  return events;
}

async function keys(env: Environment, prefix: string): Promise<Record<string, string>> {
  const [event] = await eventsOf(env, [prefix]);
  if (event?.type !== 'snapshot') throw new Error('no snapshot');
  return Object.fromEntries(event.entries.map(({ key, value }) => [key, value]));
}

describe('env source', () => {
  it('maps variables to lower-case keys with slashes', async () => {
    const env = { MYAPP_DATABASE_URL: 'db.example', MYAPP_DATABASE_USER: 'rob', MYAPP_EMPTY: '', OTHER: 'x' };
    expect(await keys(env, '/myapp')).toEqual({
      '/myapp/database/url': 'db.example',
      '/myapp/database/user': 'rob',
      '/myapp/empty': '',
    });
  });

  it('finds the variable of the mount itself, and only what lies below it', async () => {
    const env = { SC_N: 'self', SC_N_X: 'below', SC_NNN: 'sibling', SC: 'above', sc_n_y: 'lower case' };
    expect(await keys(env, '/sc/n')).toEqual({ '/sc/n': 'self', '/sc/n/x': 'below' });
  });

  it('keeps the spelling of the mount', async () => {
    expect(await keys({ MY_APP_X_Y: '1' }, '/my_app')).toEqual({ '/my_app/x/y': '1' });
    expect(await keys({ MY_APP_X: '1' }, '/My/app')).toEqual({ '/My/app/x': '1' });
  });

  it('gives everything for the empty prefix', async () => {
    expect(await keys({ A_B: '1', C: '2' }, '')).toEqual({ '/a/b': '1', '/c': '2' });
  });

  it('gives one entry for variables that differ in case only', async () => {
    expect(await keys({ A_b: 'mixed', A_B: 'capitals' }, '/a')).toEqual({ '/a/b': 'capitals' });
  });

  it('leaves out variables that are not set', async () => {
    expect(await keys({ A_B: undefined }, '/a')).toEqual({});
  });

  it('sorts by key, one snapshot per mount, and reads again on relist', async () => {
    const env: Record<string, string> = { A_2: 'b', A_10: 'a', B_1: 'c' };
    const events = await eventsOf(env, ['/a', '/b'], (relist) => {
      env['A_3'] = 'new';
      relist();
    });
    expect(
      events.map((event) =>
        event.type === 'snapshot'
          ? [event.mount.prefix, event.reason, event.entries.map(({ key }) => key)]
          : event.type,
      ),
    ).toEqual([
      ['/a', 'initial', ['/a/10', '/a/2']],
      ['/b', 'initial', ['/b/1']],
      ['/a', 'periodic', ['/a/10', '/a/2', '/a/3']],
      ['/b', 'periodic', ['/b/1']],
    ]);
    expect(events[0]).toMatchObject({ position: { datastoreId: 'env', revision: 0 } });
  });
});
