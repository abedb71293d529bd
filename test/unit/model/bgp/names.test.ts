import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filterFunctionName, sessionName } from '../../../../src/model/bgp/names.ts';

describe('a session name', () => {
  it('is its type and its address, and the port where there is one', () => {
    expect(sessionName('mesh', '10.0.0.1', null)).toBe('Mesh_10_0_0_1');
    expect(sessionName('global', 'fd00::1', 180)).toBe('Global_fd00__1_port_180');
    expect(sessionName('workload', '10.0.0.1', null)).toBe('Local_Workload_10_0_0_1');
  });

  it('names the port 179 too when it is set, as in Calico', () => {
    expect(sessionName('node', '10.0.0.1', 179)).toBe('Node_10_0_0_1_port_179');
  });

  it('never has the port in the mesh, so that a changed port keeps the name', () => {
    expect(sessionName('mesh', '10.0.0.1', 180)).toBe('Mesh_10_0_0_1');
  });

  it('differs between addresses of the two families, which share the names of BIRD 2', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV6(), (v4, v6) => {
        expect(sessionName('mesh', v4, null)).not.toBe(sessionName('mesh', v6.toLowerCase(), null));
      }),
    );
  });

  it('fits into 64 bytes for the longest address and port', () => {
    const longest = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff';
    for (const type of ['global', 'node'] as const)
      expect(sessionName(type, longest, 65_535).length).toBeLessThanOrEqual(64);
    expect(sessionName('workload', longest, null).length).toBeLessThanOrEqual(64);
  });
});

describe("the name of a filter's function", () => {
  it('is cut and given a hash above 45 characters, exactly as Calico does it', () => {
    const name = '46characters.exactly.so.should.truncate-123456';
    expect(filterFunctionName(name, 'import', 4)).toBe(
      'bgp_46characters.exactly.so.shou_9615CBDC00BAC628_importFilterV4',
    );
  });

  it('is left alone with 45 characters', () => {
    const name = 'a'.repeat(45);
    expect(filterFunctionName(name, 'export', 6)).toBe(`bgp_${name}_exportFilterV6`);
  });

  it('is at most 64 bytes of what BIRD takes in quotes, for any name, and tells names apart', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.string({ minLength: 1 }), (a, b) => {
        const made = filterFunctionName(a, 'export', 4);
        expect(made).toMatch(/^[A-Za-z0-9_.:-]{1,64}$/);
        if (a !== b) expect(made).not.toBe(filterFunctionName(b, 'export', 4));
      }),
    );
  });
});
