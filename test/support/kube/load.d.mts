import type { KubeClient } from './client.mjs';

export declare function createDefinitions(client: KubeClient, group: string): Promise<void>;
export declare function load(client: KubeClient, resources: readonly object[], group?: string): Promise<void>;
export declare function readResources(input: string): readonly Record<string, unknown>[];
