/**
 * What `{{ content_mark }}` prints before the content is sealed: 32 characters that no template would print by chance, as
 * long as the mark that replaces them. The digest is taken with the placeholder in place, since a digest cannot contain
 * itself.
 */
export const MARK_PLACEHOLDER = 'birdfeed-content-mark-0123456789';
