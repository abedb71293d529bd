import { expect, test } from 'vitest';
import { createReplyParser, type Reply } from '../../../src/reload/reply.ts';
import { parseProtocols, parseStatus } from '../../../src/reload/show.ts';

function reply(...lines: string[]): Reply {
  const [event] = createReplyParser().push(Buffer.from(`${lines.join('\n')}\n`));
  if (event?.type !== 'reply') throw new Error('not a reply');
  return event.reply;
}

test('protocols of 1.6, with a name wider than its column and a time with a space', () => {
  const rows = parseProtocols(
    reply(
      '2002-name     proto    table    state  since       info',
      '1002-device1  Device   master   up     2026-11-30 14:09:21  ',
      ' Node_10_0_0_9_with_a_long_name BGP      master   start  2026-11-30 14:09:21  Passive       ',
      ' Mesh_10_0_0_3 BGP      master   up     14:09:21    Established   ',
      '0000 ',
    ),
  );
  expect(rows).toEqual([
    {
      name: 'device1',
      proto: 'Device',
      table: 'master',
      state: 'up',
      since: '2026-11-30 14:09:21',
      info: '',
    },
    {
      name: 'Node_10_0_0_9_with_a_long_name',
      proto: 'BGP',
      table: 'master',
      state: 'start',
      since: '2026-11-30 14:09:21',
      info: 'Passive',
    },
    {
      name: 'Mesh_10_0_0_3',
      proto: 'BGP',
      table: 'master',
      state: 'up',
      since: '14:09:21',
      info: 'Established',
    },
  ]);
});

test('protocols of 2.x and 3.x, with an error in the info', () => {
  const rows = parseProtocols(
    reply(
      '2002-Name       Proto      Table      State  Since         Info',
      '1002-device1    Device     ---        up     14:02:35.856  ',
      ' p0         BGP        ---        start  14:02:35.856  Active        Socket: Connection refused',
      '0000 ',
    ),
  );
  expect(rows[1]).toEqual({
    name: 'p0',
    proto: 'BGP',
    table: '---',
    state: 'start',
    since: '14:02:35.856',
    info: 'Active        Socket: Connection refused',
  });
  expect(rows[0]?.info).toBe('');
});

test('no protocols give no rows', () => {
  expect(parseProtocols(reply('0000 '))).toEqual([]);
});

test('status of 1.6 in graceful restart', () => {
  const status = parseStatus(
    reply(
      '1000-BIRD 1.6.8',
      '1011-Router ID is 10.0.0.1',
      ' Current server time is 2026-11-30 14:09:22',
      ' Last reboot on 2026-11-30 14:09:21',
      ' Last reconfiguration on 2026-11-30 14:09:21',
      '0024-Graceful restart recovery in progress',
      '   Waiting for 1 protocols to recover',
      '   Wait timer is 19/20',
      '0013 Daemon is up and running',
    ),
  );
  expect(status).toEqual({
    state: 'running',
    version: '1.6.8',
    routerId: '10.0.0.1',
    lastReboot: '2026-11-30 14:09:21',
    lastReconfiguration: '2026-11-30 14:09:21',
    gracefulRestart: { waitingFor: 1, remainingSeconds: 19, waitSeconds: 20 },
  });
});

test.each([
  ['Reconfiguration in progress', 'reconfiguring'],
  ['Shutdown in progress', 'shutting-down'],
  ['Daemon is up and running', 'running'],
])('%s', (text, state) => {
  expect(parseStatus(reply('1000-BIRD 2.0.12', `0013 ${text}`)).state).toBe(state);
});
