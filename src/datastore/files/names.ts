/**
 * What editors and tools leave beside the files that they save: `x~`, `.x.swp`, `#x#`, `.#x`, `x.tmp`. Short-lived
 * probes (vim's `4913`) need no rule, since they do not outlive the settle time.
 */
export function isLeftover(name: string): boolean {
  return /~$|\.sw[a-z]$|\.tmp$|\.part$|\.bak$|^\.#|^#.*#$|___jb_(tmp|old)___$/.test(name);
}

export function isHidden(name: string): boolean {
  return name.startsWith('.');
}

/** Kubernetes' own names in a mounted volume: `..data` and the dated directories that it points to. */
export function isVolumeInternal(name: string): boolean {
  return name.startsWith('..');
}
