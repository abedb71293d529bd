import type { Precompiled } from './engine.ts';

/**
 * The templates that birdfeed comes with, compiled when the bundle is made (`scripts/shipped-templates.mjs` puts another
 * file in this one's place). From source there are none, and templates are compiled at start, as a user's are.
 */
export const SHIPPED_TEMPLATES: Precompiled | null = null;
