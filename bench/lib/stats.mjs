// Figures from samples.

/** The sample below which `share` of all samples lie (nearest rank). */
export function percentile(samples, share) {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

/** `{ n, p50, p95, min, max }`, rounded. */
export function summary(samples) {
  return {
    n: samples.length,
    p50: round(percentile(samples, 0.5)),
    p95: round(percentile(samples, 0.95)),
    min: round(percentile(samples, 0)),
    max: round(percentile(samples, 1)),
  };
}

/** Two decimals; null stays null. */
export function round(value) {
  return value === null || value === undefined ? null : Math.round(value * 100) / 100;
}

/** `a / b`, or null when one of them was not measured. */
export function ratio(a, b) {
  if (typeof a !== 'number' || typeof b !== 'number' || b === 0) return null;
  return Math.round((a / b) * 1000) / 1000;
}
