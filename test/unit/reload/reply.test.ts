import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createReplyParser, type ReplyEvent } from '../../../src/reload/reply.ts';

const STATUS = [
  '1000-BIRD 2.0.12',
  '1011-Router ID is 10.0.0.1',
  ' Hostname is vm',
  '0013 Daemon is up and running',
  '',
].join('\n');

function parse(text: string, limits?: { maxReply: number; maxLine: number }): ReplyEvent[] {
  return createReplyParser(limits).push(Buffer.from(text));
}

describe('a reply', () => {
  test('gives continuation lines the code of the line before', () => {
    const [event] = parse(STATUS);
    expect(event).toMatchObject({
      type: 'reply',
      reply: {
        code: '0013',
        text: 'Daemon is up and running',
        truncated: false,
        lines: [
          { code: '1000', text: 'BIRD 2.0.12' },
          { code: '1011', text: 'Router ID is 10.0.0.1' },
          { code: '1011', text: 'Hostname is vm' },
          { code: '0013', text: 'Daemon is up and running' },
        ],
      },
    });
  });

  test('is the same however the bytes are split', () => {
    const text = `${STATUS}+a notice é\n0023 x\n1002-a\n +b\n0000 \n`;
    const whole = parse(text);
    expect(whole).toHaveLength(4);
    fc.assert(
      fc.property(fc.array(fc.nat(Buffer.byteLength(text)), { maxLength: 8 }), (cuts) => {
        const parser = createReplyParser();
        const bytes = Buffer.from(text);
        const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const events = edges.slice(1).flatMap((end, i) => parser.push(bytes.subarray(edges[i], end)));
        expect(events).toEqual(whole);
      }),
    );
  });

  test('does not contain notices, wherever they come', () => {
    const events = parse('1000-a\n+Config timeout expired, starting undo\n b\n0013 up\n');
    expect(events.map((event) => event.type)).toEqual(['notice', 'reply']);
    expect(events[1]).toMatchObject({ reply: { lines: [{ text: 'a' }, { text: 'b' }, { text: 'up' }] } });
  });

  test('keeps a plus sign that starts a continuation line', () => {
    expect(parse('1000-a\n +b\n0000 \n')[0]).toMatchObject({
      reply: { lines: [{}, { text: '+b' }, { text: '' }] },
    });
  });

  test('is bounded in memory, and says so', () => {
    const rows = Array.from({ length: 1_000 }, (_, i) => `1002-row ${i}\n`).join('');
    const [event] = parse(`${rows}0000 \n0023 next\n`, { maxReply: 100, maxLine: 1_000 });
    expect(event).toMatchObject({ reply: { code: '0000', truncated: true } });
    expect(event?.type === 'reply' && event.reply.lines.length).toBeLessThan(20);
  });

  test('is whole again after a truncated one', () => {
    const events = parse(`1002-${'x'.repeat(200)}\n y\n0000 \n0023 next\n`, {
      maxReply: 100,
      maxLine: 1_000,
    });
    expect(events[1]).toMatchObject({ reply: { code: '0023', truncated: false } });
  });
});

describe('garbage', () => {
  test.each([
    ['hello\n'],
    [' continued\n'],
    ['00012 x\n'],
    ['\n'],
    ['0001x\n'],
    ['HTTP/1.1 400 Bad Request\r\n'],
  ])('%j', (text) => {
    expect(parse(text)[0]?.type).toBe('garbage');
  });

  test('is a line that does not end', () => {
    expect(parse('x'.repeat(70_000))[0]?.type).toBe('garbage');
  });

  test('is a continuation after the last line of a reply', () => {
    expect(parse('0000 \n more\n').map((event) => event.type)).toEqual(['reply', 'garbage']);
  });
});
