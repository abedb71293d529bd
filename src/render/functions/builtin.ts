/**
 * The nunjucks filters that templates keep. Left out: what is about HTML, and `random`. A filter given null fails instead of
 * printing nothing.
 */
export const KEPT_FILTERS: Readonly<Record<string, string>> = {
  abs: 'The absolute value of a number.',
  batch: 'Splits a list into lists of the given length.',
  capitalize: 'First letter in upper case, the rest in lower case.',
  center: 'Pads text on both sides to the given width.',
  default:
    'The given value when the input is missing; with a third argument true, also when it is null, empty or 0.',
  dictsort: 'The members of an object as [key, value] pairs, sorted by key.',
  dump: 'The value as JSON.',
  first: 'The first element of a list.',
  float: 'Text as a number.',
  groupby: 'An object of lists, grouped by a member of the elements.',
  indent: 'Indents all lines but the first by the given width.',
  last: 'The last element of a list.',
  length: 'The length of a list or text.',
  list: 'Text as a list of characters, an object as a list of pairs.',
  lower: 'Text in lower case.',
  reject: 'The elements that fail the named test.',
  rejectattr: 'The elements whose named member is false.',
  round: 'Rounds a number.',
  select: 'The elements that pass the named test.',
  selectattr: 'The elements whose named member is true.',
  slice: 'Splits a list into the given number of lists.',
  sort: 'A sorted copy of a list; arguments reverse, case_sensitive, attribute.',
  string: 'The value as text.',
  sum: 'The sum of a list.',
  title: 'Every word with a capital letter.',
  trim: 'Text without white space around it.',
  truncate: 'Text cut to the given length.',
  upper: 'Text in upper case.',
  wordcount: 'The number of words.',
};

/** Filters that have something to say about a missing or null input. */
export const TAKES_NULL = new Set(['default', 'dump', 'string']);

/** nunjucks' global functions, all kept. */
export const KEPT_GLOBALS: Readonly<Record<string, string>> = {
  range: '`range(stop)`, `range(start, stop, step)`: a list of numbers, without the last.',
  cycler: '`cycler(a, b, …)`: an object whose `next()` gives the values in turn.',
  joiner: '`joiner(separator)`: a function that gives nothing the first time and the separator from then on.',
};
