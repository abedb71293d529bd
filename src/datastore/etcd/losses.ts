import type { BirdfeedError } from '../../core/errors.ts';

/**
 * Which failures are news. While etcd is away every attempt fails; a cause is reported once per endpoint and loss, and
 * again only when it becomes another one.
 */
export class Losses {
  readonly #causes = new Map<string, string>();

  /** Whether something was reported that has not ended. */
  get open(): boolean {
    return this.#causes.size > 0;
  }

  /** Whether this failure is to be reported. */
  isNews(endpoint: string, error: BirdfeedError): boolean {
    const cause = `${error.code} ${error.message}`;
    if (this.#causes.get(endpoint) === cause) return false;
    this.#causes.set(endpoint, cause);
    return true;
  }

  end(): void {
    this.#causes.clear();
  }
}
