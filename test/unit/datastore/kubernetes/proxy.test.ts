import { expect, it } from 'vitest';
import { proxyFor } from '../../../../src/datastore/kubernetes/proxy.ts';

const PROXY = 'http://proxy.example:3128';

it.each([
  ['https://api.example:6443', {}, undefined],
  ['https://api.example:6443', { HTTPS_PROXY: PROXY }, PROXY],
  ['https://api.example:6443', { https_proxy: PROXY }, PROXY],
  ['https://api.example:6443', { HTTPS_PROXY: 'proxy.example:3128' }, PROXY],
  ['https://api.example:6443', { HTTP_PROXY: PROXY }, undefined],
  ['http://api.example:8080', { HTTP_PROXY: PROXY }, PROXY],
  // The machine itself.
  ['https://127.0.0.1:6443', { HTTPS_PROXY: PROXY }, undefined],
  ['https://[::1]:6443', { HTTPS_PROXY: PROXY }, undefined],
  ['https://localhost:6443', { HTTPS_PROXY: PROXY }, undefined],
  // Exceptions.
  ['https://api.example:6443', { HTTPS_PROXY: PROXY, NO_PROXY: '*' }, undefined],
  ['https://api.example:6443', { HTTPS_PROXY: PROXY, NO_PROXY: 'other, api.example' }, undefined],
  ['https://api.example:6443', { HTTPS_PROXY: PROXY, NO_PROXY: 'api.example:6443' }, undefined],
  ['https://api.example:6443', { HTTPS_PROXY: PROXY, NO_PROXY: 'api.example:443' }, PROXY],
  ['https://api.example:6443', { HTTPS_PROXY: PROXY, NO_PROXY: '.example' }, undefined],
  ['https://api.example:6443', { HTTPS_PROXY: PROXY, no_proxy: 'example' }, undefined],
  ['https://api.example:6443', { HTTPS_PROXY: PROXY, NO_PROXY: 'pi.example' }, PROXY],
  ['https://10.96.0.1:443', { HTTPS_PROXY: PROXY, NO_PROXY: '10.96.0.0/12' }, undefined],
  ['https://10.128.0.1:443', { HTTPS_PROXY: PROXY, NO_PROXY: '10.96.0.0/12' }, PROXY],
  ['https://[fd00:96::1]:443', { HTTPS_PROXY: PROXY, NO_PROXY: 'fd00:96::/112' }, undefined],
  ['https://10.96.0.1:443', { HTTPS_PROXY: PROXY, NO_PROXY: '10.96.0.0/99' }, PROXY],
])('%s with %j goes through %s', (server, env, proxy) => {
  expect(proxyFor(new URL(server), env)).toBe(proxy);
});
