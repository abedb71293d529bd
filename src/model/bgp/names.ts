import { sha256 } from '../../core/digest.ts';
import type { Family } from '../calico/types.ts';
import type { SessionType } from './types.ts';

/** BIRD takes symbols of at most 64 bytes, quotes not counted (1.6, 2.x and 3.x alike). */
const SYMBOL_LIMIT = 64;

const PREFIX = {
  mesh: 'Mesh',
  global: 'Global',
  node: 'Node',
  workload: 'Local_Workload',
} as const satisfies Record<SessionType, string>;

/**
 * The protocol name of a session: `Mesh_10_0_0_1`, `Global_fd00__1_port_180`. Prefix and address make it unique within a
 * node, over both families too, and at most 57 bytes long. A mesh name never carries the port.
 */
export function sessionName(type: SessionType, address: string, port: number | null): string {
  // Two expressions of one character each: V8 replaces those many times faster than a class of characters.
  const host = address.replace(/\./g, '_').replace(/:/g, '_');
  return port === null || type === 'mesh'
    ? `${PREFIX[type]}_${host}`
    : `${PREFIX[type]}_${host}_port_${port}`;
}

/**
 * The function of one direction and family of a BGPFilter, named as Calico names it: `bgp_NAME_importFilterV4`. A name
 * that leaves too little room is cut to 28 characters and 16 upper-case hex digits of its SHA-256 are added.
 */
export function filterFunctionName(name: string, direction: 'import' | 'export', family: Family): string {
  const suffix = `_${direction}FilterV${family}`;
  return `bgp_${fitted(name, SYMBOL_LIMIT - 'bgp_'.length - suffix.length)}${suffix}`;
}

function fitted(name: string, room: number): string {
  const clean = name.replace(/[^A-Za-z0-9_.:-]/g, '_');
  if (clean === name && name.length <= room) return name;
  const digest = sha256(name).slice(0, 16).toUpperCase();
  return `${clean.slice(0, room - digest.length - 1)}_${digest}`;
}
