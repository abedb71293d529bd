import { backoffDelay } from '../../core/backoff.ts';
import type { BirdfeedError } from '../../core/errors.ts';
import type { Endpoint, EtcdSettings } from './options.ts';

/** Which endpoint to try next, and when. After a failure the next one is tried: never the one that just failed, if there is a choice. */
export class Attempts {
  readonly #settings: EtcdSettings;
  #index = 0;
  #failures = 0;
  #refused = false;

  constructor(settings: EtcdSettings) {
    this.#settings = settings;
  }

  get endpoint(): Endpoint {
    const { endpoints } = this.#settings;
    return endpoints[this.#index] ?? endpoints[0];
  }

  /** Something came of the connection, so that it may fail again without being hopeless. */
  succeeded(): void {
    this.#failures = 0;
  }

  failed(error: BirdfeedError): void {
    this.#failures += 1;
    this.#refused = error.code === 'BF_DATASTORE_AUTH';
    this.#index = (this.#index + 1) % this.#settings.endpoints.length;
  }

  /** Milliseconds to wait before the next attempt. Grows once every endpoint has had its turn. */
  delay(random: number): number {
    const { endpoints, timings } = this.#settings;
    const round = Math.floor((this.#failures - 1) / endpoints.length);
    return backoffDelay(this.#refused ? timings.authBackoff : timings.backoff, Math.max(0, round), random);
  }
}
