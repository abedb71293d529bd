/** Time in Go's layouts, since `datetime` comes from confd. Always UTC: rendered bytes must not depend on the host. */

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  ...[
    'January',
    'February',
    'March',
    'April',
    'May',
    'June',
    'July',
    'August',
    'September',
    'October',
    'November',
  ],
  'December',
];

/** What Go prints for a time without a layout. */
export const DEFAULT_LAYOUT = '2006-01-02 15:04:05 -0700 MST';

const two = (n: number): string => String(n).padStart(2, '0');

const TOKENS: Readonly<Record<string, (t: Date) => string>> = {
  January: (t) => MONTHS[t.getUTCMonth()]!,
  Jan: (t) => MONTHS[t.getUTCMonth()]!.slice(0, 3),
  Monday: (t) => DAYS[t.getUTCDay()]!,
  Mon: (t) => DAYS[t.getUTCDay()]!.slice(0, 3),
  MST: () => 'UTC',
  'Z07:00': () => 'Z',
  Z0700: () => 'Z',
  '-07:00': () => '+00:00',
  '-0700': () => '+0000',
  2006: (t) => String(t.getUTCFullYear()).padStart(4, '0'),
  '01': (t) => two(t.getUTCMonth() + 1),
  '02': (t) => two(t.getUTCDate()),
  '03': (t) => two(t.getUTCHours() % 12 || 12),
  '04': (t) => two(t.getUTCMinutes()),
  '05': (t) => two(t.getUTCSeconds()),
  '06': (t) => two(t.getUTCFullYear() % 100),
  15: (t) => two(t.getUTCHours()),
  PM: (t) => (t.getUTCHours() < 12 ? 'AM' : 'PM'),
  pm: (t) => (t.getUTCHours() < 12 ? 'am' : 'pm'),
  _2: (t) => String(t.getUTCDate()).padStart(2, ' '),
  1: (t) => String(t.getUTCMonth() + 1),
  2: (t) => String(t.getUTCDate()),
  3: (t) => String(t.getUTCHours() % 12 || 12),
  4: (t) => String(t.getUTCMinutes()),
  5: (t) => String(t.getUTCSeconds()),
};

const PATTERN = /January|Jan|Monday|Mon|MST|Z07:00|Z0700|-07:00|-0700|2006|0[1-6]|15|PM|pm|_2|[1-5]/g;

/** `layout` shows how the time 2006-01-02 15:04:05 would be written. `at` in milliseconds since the epoch. */
export function formatGoTime(at: number, layout: string): string {
  const time = new Date(at);
  return layout.replace(PATTERN, (token) => TOKENS[token]!(time));
}
