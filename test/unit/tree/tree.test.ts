import { describe, expect, it } from 'vitest';
import { createTree } from '../../../src/tree/tree.ts';
import type { Change, Entry } from '../../../src/tree/types.ts';

const entry = (key: string, value = 'v', revision = 1): Entry => ({ key, value, revision });
const put = (key: string, value = 'v', revision = 1): Change => ({
  type: 'put',
  entry: entry(key, value, revision),
});
const del = (key: string): Change => ({ type: 'delete', key });
const keys = (entries: readonly Entry[]) => entries.map((e) => e.key);
const root = { prefix: '/' };

function treeWith(declared: readonly string[], entries: readonly Entry[] = []) {
  const tree = createTree();
  tree.declare(declared);
  tree.applySnapshot(root, entries);
  return tree;
}

describe('reading the tree', () => {
  it('ends a prefix at a slash', () => {
    const tree = treeWith(
      ['/sc/n'],
      [entry('/sc/n'), entry('/sc/n-1'), entry('/sc/n/a'), entry('/sc/nnn/b')],
    );
    expect(keys(tree.range('/sc/n'))).toEqual(['/sc/n', '/sc/n/a']);
  });

  it('does not see a change of a sibling that shares the letters of the prefix', () => {
    const tree = treeWith(['/sc/n'], [entry('/sc/n/a')]);
    const before = { range: tree.range('/sc/n'), version: tree.version('/sc/n') };
    tree.applyChanges(root, [put('/sc/nnn/x'), put('/sc/n-1')]);
    expect(tree.range('/sc/n')).toBe(before.range);
    expect(tree.version('/sc/n')).toBe(before.version);
  });

  it('takes a prefix with or without a trailing slash', () => {
    const tree = treeWith(['/a/'], [entry('/a/b')]);
    expect(tree.range('/a')).toBe(tree.range('/a/'));
    expect(keys(tree.range('/a'))).toEqual(['/a/b']);
  });

  it('serves the whole tree where the root is declared', () => {
    const tree = treeWith(['/'], [entry('/a'), entry('no/leading/slash')]);
    expect(keys(tree.range('/'))).toEqual(['/a', 'no/leading/slash']);
    expect(tree.get('no/leading/slash')?.value).toBe('v');
    expect(keys(tree.range('no'))).toEqual(['no/leading/slash']);
  });

  it('refuses to read what nothing declared', () => {
    const tree = treeWith(['/sc/n'], [entry('/sc/nnn')]);
    for (const read of [
      () => tree.get('/sc/nnn'),
      () => tree.get('/sc'),
      () => tree.range('/sc'),
      () => tree.range('/sc/nnn'),
      () => tree.version('/'),
    ]) {
      expect(read).toThrow(expect.objectContaining({ code: 'BF_INTERNAL' }));
    }
  });

  it('serves a declared prefix that has no keys', () => {
    expect(treeWith(['/a']).range('/a')).toEqual([]);
  });

  it('serves nested declared prefixes', () => {
    const nodes = '/calico/resources/v3/projectcalico.org/nodes';
    const tree = treeWith([nodes, '/calico'], [entry(`${nodes}/a`), entry('/calico/ipam/x')]);
    tree.applyChanges(root, [put(`${nodes}/b`)]);
    expect(keys(tree.range(nodes))).toEqual([`${nodes}/a`, `${nodes}/b`]);
    expect(keys(tree.range('/calico'))).toEqual(['/calico/ipam/x', `${nodes}/a`, `${nodes}/b`]);
  });

  it('shows data that arrived before the prefix was declared', () => {
    const tree = createTree();
    tree.applySnapshot(root, [entry('/a/b')]);
    tree.declare(['/a']);
    expect(keys(tree.range('/a'))).toEqual(['/a/b']);
  });

  it('forgets what was declared before', () => {
    const tree = treeWith(['/a', '/b'], [entry('/a/x')]);
    tree.declare(['/b']);
    expect(() => tree.range('/a')).toThrow();
    tree.applyChanges(root, [put('/a/y')]);
    tree.declare(['/a']);
    expect(keys(tree.range('/a'))).toEqual(['/a/x', '/a/y']);
  });
});

describe('changing the tree', () => {
  it('keeps the old entry when a put brings the same value', () => {
    const tree = treeWith(['/a'], [entry('/a/x', '1', 1)]);
    const old = tree.get('/a/x');
    const version = tree.version('/a');
    expect(tree.applyChanges(root, [put('/a/x', '1', 7)])).toEqual([]);
    expect(tree.get('/a/x')).toBe(old);
    expect(tree.version('/a')).toBe(version);
  });

  it('keeps the old entries and array when a snapshot brings the same values', () => {
    const tree = treeWith(['/a'], [entry('/a/x'), entry('/a/y')]);
    const range = tree.range('/a');
    expect(tree.applySnapshot(root, [entry('/a/y', 'v', 9), entry('/a/x', 'v', 9)])).toEqual([]);
    expect(tree.range('/a')).toBe(range);
  });

  it('returns the keys that changed', () => {
    const tree = treeWith(['/a'], [entry('/a/x'), entry('/a/y')]);
    const changes = [put('/a/z'), del('/a/x'), put('/a/y'), del('/a/absent')];
    expect(tree.applyChanges(root, changes)).toEqual(['/a/x', '/a/z']);
    expect(tree.applySnapshot(root, [entry('/a/y', 'new')])).toEqual(['/a/y', '/a/z']);
  });

  it('gives a new array after a change and leaves the old one as it was', () => {
    const tree = treeWith(['/a'], [entry('/a/x', '1')]);
    const before = tree.range('/a');
    tree.applyChanges(root, [put('/a/x', '2')]);
    expect(before[0]?.value).toBe('1');
    expect(tree.range('/a')[0]?.value).toBe('2');
  });

  it('leaves the arrays of other prefixes alone', () => {
    const tree = treeWith(['/a', '/b'], [entry('/a/x'), entry('/b/x')]);
    const other = tree.range('/b');
    tree.applyChanges(root, [put('/a/x', 'new')]);
    expect(tree.range('/b')).toBe(other);
  });

  it('raises the version of each covering prefix, declared or below one', () => {
    const tree = treeWith(['/a'], [entry('/a/b/c'), entry('/a/d')]);
    const before = ['/a', '/a/b', '/a/b/c', '/a/d'].map((prefix) => tree.version(prefix));
    tree.applyChanges(root, [put('/a/b/c', 'new')]);
    const after = ['/a', '/a/b', '/a/b/c', '/a/d'].map((prefix) => tree.version(prefix));
    expect(after.map((version, i) => version > (before[i] as number))).toEqual([true, true, true, false]);
  });

  it('never lets a version fall when a prefix is declared anew', () => {
    const tree = treeWith(['/a'], [entry('/a/x')]);
    tree.applyChanges(root, [put('/a/x', '2')]);
    const version = tree.version('/a');
    tree.declare([]);
    tree.declare(['/a']);
    expect(tree.version('/a')).toBeGreaterThanOrEqual(version);
  });

  it('refuses keys from outside the mount', () => {
    const tree = createTree();
    const mount = { prefix: '/sc/n' };
    const outside = expect.objectContaining({ code: 'BF_INTERNAL' });
    expect(() => tree.applySnapshot(mount, [entry('/sc/nnn')])).toThrow(outside);
    expect(() => tree.applyChanges(mount, [del('/sc')])).toThrow(outside);
  });
});

describe('nested mounts', () => {
  const outer = { prefix: '/calico' };
  const inner = { prefix: '/calico/secrets' };

  it('keeps what the inner mount delivered when the outer one is listed again', () => {
    const tree = createTree();
    tree.declare(['/calico']);
    tree.applySnapshot(outer, [entry('/calico/a')]);
    tree.applySnapshot(inner, [entry('/calico/secrets/s')]);
    expect(tree.applySnapshot(outer, [])).toEqual(['/calico/a']);
    expect(keys(tree.range('/calico'))).toEqual(['/calico/secrets/s']);
  });

  it('lets the inner mount win over the outer one below its prefix', () => {
    const tree = createTree();
    tree.declare(['/calico']);
    tree.applySnapshot(outer, [entry('/calico/secrets/s', 'outer'), entry('/calico/secrets/old')]);
    tree.applySnapshot(inner, [entry('/calico/secrets/s', 'inner')]);
    tree.applyChanges(outer, [put('/calico/secrets/s', 'outer again'), del('/calico/secrets/s')]);
    expect(tree.range('/calico')).toEqual([entry('/calico/secrets/s', 'inner')]);
  });

  it('drops only the keys of a mount that goes', () => {
    const tree = createTree();
    tree.declare(['/calico']);
    tree.applySnapshot(outer, [entry('/calico/a')]);
    tree.applySnapshot(inner, [entry('/calico/secrets/s')]);
    expect(tree.unmount(inner)).toEqual(['/calico/secrets/s']);
    expect(tree.unmount(inner)).toEqual([]);
    expect(tree.applySnapshot(outer, [entry('/calico/a'), entry('/calico/secrets/s')])).toEqual([
      '/calico/secrets/s',
    ]);
  });
});
