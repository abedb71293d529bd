import type { Clock } from '../../core/clock.ts';
import { CALICO_GROUPS, type CalicoGroup } from './collections.ts';
import { StatusError } from './failures.ts';
import type { Line } from './line.ts';
import type { KubernetesTimings } from './options.ts';
import { isObject, textAt } from './shape.ts';

const [OLD, NEW] = CALICO_GROUPS;

/**
 * Calico's rule (libcalico-go `lib/backend/k8s/discovery.go`): `projectcalico.org/v3` only where that group exists and
 * `crd.projectcalico.org` does not. With both of them an aggregated API server is in front of the older one, which is
 * then read itself.
 */
export function chooseGroup(groups: readonly string[]): CalicoGroup {
  const has = (group: string): boolean => groups.includes(group);
  return has('projectcalico.org') && !has('crd.projectcalico.org') ? NEW : OLD;
}

/** The value of CALICO_API_GROUP; as in Calico everything but the newer group's name means the older one. */
export function groupNamed(text: string): CalicoGroup {
  return text.toLowerCase() === NEW ? NEW : OLD;
}

/** Which of Calico's API groups is in use: asked once for all kinds, and again on request. */
export class Discovery {
  readonly #fixed: CalicoGroup | null;
  readonly #deps: { readonly clock: Clock; readonly timings: KubernetesTimings };
  #found: Promise<CalicoGroup> | undefined;
  #at = 0;

  constructor(
    fixed: CalicoGroup | null,
    deps: { readonly clock: Clock; readonly timings: KubernetesTimings },
  ) {
    this.#fixed = fixed;
    this.#deps = deps;
  }

  /** Asks again when the last answer is older than `maxAgeMs`. */
  async group(line: Line, maxAgeMs: number, signal: AbortSignal): Promise<CalicoGroup> {
    if (this.#fixed !== null) return this.#fixed;
    const now = this.#deps.clock.monotonic();
    if (this.#found === undefined || now - this.#at > maxAgeMs) {
      this.#at = now;
      this.#found = this.#ask(line, signal);
      this.#found.catch(() => {
        this.#found = undefined;
      });
    }
    return this.#found;
  }

  async #ask(line: Line, signal: AbortSignal): Promise<CalicoGroup> {
    try {
      const list = await line.getJson('/apis', 'application/json', this.#deps.timings.answerMs, signal);
      const groups = Array.isArray(list['groups']) ? list['groups'] : [];
      return chooseGroup(groups.filter(isObject).map((group) => textAt(group, 'name')));
    } catch (error) {
      // Who may not ask gets the older group, as in Calico; a server that does not answer is no answer.
      if (error instanceof StatusError && (error.status === 403 || error.status === 404)) return OLD;
      throw error;
    }
  }
}
