import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requireHelm } from '../../support/helm.ts';
import {
  MANIFEST_DIR,
  type Manifest,
  parseManifests,
  podOf,
  readManifests,
} from '../../support/manifests.ts';

const NAMES = ['kubernetes', 'etcd', 'route-reflector'];
const isUpdate = process.env['UPDATE_DOCS'] === '1';

const helm = requireHelm();
const values = (name: string) => ['--values', join(MANIFEST_DIR, 'values', `${name}.yaml`)];
const set = (text: string) => ['--set-json', text];

describe.each(NAMES)('the chart with values/%s.yaml', (name) => {
  it('passes helm lint', () => {
    expect(helm.lint(values(name))).toContain('0 chart(s) failed');
  });

  it(`is ${name}.yaml`, () => {
    const first = `# Rendered from chart/ with values/${name}.yaml; UPDATE_DOCS=1 npx vitest run test/integration/deploy writes it.\n`;
    const text = first + helm.template(values(name));
    const path = join(MANIFEST_DIR, `${name}.yaml`);
    if (isUpdate) writeFileSync(path, text);
    expect(text).toBe(readFileSync(path, 'utf8'));
  });
});

describe('the chart', () => {
  it('gives birdfeed the rights of rbac.yaml', () => {
    const rulesOf = (objects: readonly Manifest[]) =>
      objects.find(({ kind }) => kind === 'ClusterRole')?.['rules'];
    const rendered = parseManifests(helm.template(values('kubernetes')));
    expect(rulesOf(rendered)).toEqual(rulesOf(readManifests('rbac.yaml')));
  });

  it('lets birdfeed read services and Secrets in Kubernetes beside etcd when asked to, and nothing else', () => {
    const objects = parseManifests(helm.template([...values('etcd'), ...set('etcd.services=true')]));
    const resources = objects
      .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role')
      .flatMap(({ rules }) => (rules as { resources?: string[] }[]).flatMap((rule) => rule.resources ?? []));
    expect(resources.sort()).toEqual(['endpointslices', 'namespaces', 'secrets', 'services']);
    const pod = podOf(objects);
    expect(pod.automountServiceAccountToken).toBe(true);
    expect(pod.volumes?.map(({ name }) => name)).toEqual(['cache', 'socket', 'etcd-tls']);
  });

  it('says what is missing', () => {
    expect(() => helm.template([])).toThrow(/image: an image built from Containerfile is needed/);
    const [image, bird] = [set('image="a"'), set('bird.image="b"')];
    expect(() => helm.template(image)).toThrow(/bird.image: an image with BIRD 2 or 3 is needed/);
    expect(() => helm.template([...image, ...bird, ...set('datastore="etcd"')])).toThrow(/etcd.endpoints/);
  });

  it('mounts templates and resources of one’s own where birdfeed looks for them', () => {
    const objects = parseManifests(
      helm.template([
        ...values('kubernetes'),
        ...set('templates={"tail.njk":"# mine\\n"}'),
        ...set('confd={"mine.toml":"[template]\\n"}'),
      ]),
    );
    const maps = objects.filter(({ kind }) => kind === 'ConfigMap');
    expect(maps.map(({ metadata, data }) => [metadata.name, data]).sort()).toEqual([
      ['birdfeed-confd', { 'mine.toml': '[template]\n' }],
      ['birdfeed-templates', { 'tail.njk': '# mine\n' }],
    ]);
    const { initContainers, containers, volumes } = podOf(objects);
    for (const container of [initContainers?.at(-1), containers.at(-1)])
      expect(container?.volumeMounts).toEqual(
        expect.arrayContaining([
          { name: 'templates', mountPath: '/etc/birdfeed/templates', readOnly: true },
          { name: 'confd', mountPath: '/etc/birdfeed/conf.d', readOnly: true },
        ]),
      );
    expect(volumes).toEqual(
      expect.arrayContaining([
        { name: 'templates', configMap: { name: 'birdfeed-templates' } },
        { name: 'confd', configMap: { name: 'birdfeed-confd' } },
      ]),
    );
  });

  it('passes options and variables on, quoted', () => {
    const pod = podOf(
      parseManifests(
        helm.template([
          ...values('kubernetes'),
          ...set('args=["--router-id","hash"]'),
          ...set('env=[{"name":"BIRDFEED_KEEP","value":"5"}]'),
        ]),
      ),
    );
    for (const container of [pod.initContainers?.at(-1), pod.containers.at(-1)]) {
      expect(container?.args?.slice(-2)).toEqual(['--router-id', 'hash']);
      expect(container?.env).toContainEqual({ name: 'BIRDFEED_KEEP', value: '5' });
    }
  });

  it('leaves the cache to the operator, and the socket on the host, when asked to', () => {
    const pod = podOf(
      parseManifests(
        helm.template([
          ...values('kubernetes'),
          ...set('cache.prepare=false'),
          ...set('socket.hostPath="/var/run/calico"'),
        ]),
      ),
    );
    expect(pod.initContainers?.map(({ name }) => name)).toEqual(['birdfeed-once']);
    expect(pod.volumes).toContainEqual({
      name: 'socket',
      hostPath: { path: '/var/run/calico', type: 'DirectoryOrCreate' },
    });
  });
});
