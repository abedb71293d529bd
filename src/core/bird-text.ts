/**
 * What a BIRD string cannot hold, since BIRD has no escapes: a double quote, the control characters of ASCII, and what
 * editors and log readers take for the end of a line (NEL, LS, PS). Asked by the model, which leaves out one object, and
 * by the quoting filter, which would stop the whole file.
 */
export const NOT_IN_BIRD_STRING = /["\u0000-\u001f\u007f\u0085\u2028\u2029]/;
