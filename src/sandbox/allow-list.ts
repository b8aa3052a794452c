import { BlockList, isIP } from 'node:net';
import { PoSyncError } from '../core/errors.ts';

/** Whether a peer may call. */
export type AllowList = (peer: { readonly remoteAddress?: string | undefined }) => boolean;

/**
 * Reads CIDR ranges (`10.0.0.0/8`, `::1/128`) and single addresses; none at all lets everybody in.
 * Throws PoSyncError `sandbox-allow-ip-invalid`.
 */
export function allowList(ranges: readonly string[]): AllowList {
  if (ranges.length === 0) return () => true;
  const list = new BlockList();
  for (const range of ranges) add(list, range);
  return ({ remoteAddress }) => {
    if (remoteAddress === undefined) return false;
    const plain = remoteAddress.replace(/^::ffff:(?=\d+\.)/, '');
    return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
  };
}

function add(list: BlockList, range: string): void {
  const [address = '', prefix, ...rest] = range.trim().split('/');
  const version = isIP(address);
  const longest = version === 6 ? 128 : 32;
  const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
  if (version === 0 || rest.length > 0 || bits < 0 || bits > longest) {
    throw new PoSyncError('sandbox-allow-ip-invalid', `"${range}" is not an address range.`, {
      remedy: 'Write it like 10.0.0.0/8, 192.168.1.17 or fd00::/8.',
      facts: { value: range },
    });
  }
  list.addSubnet(address, bits, version === 6 ? 'ipv6' : 'ipv4');
}
