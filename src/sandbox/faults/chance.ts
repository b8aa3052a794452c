/**
 * A number from 0 (included) to 1 (excluded) that depends on nothing but the seed and the key,
 * so that a rehearsal strikes the same calls in whatever order they come.
 */
export function chance(seed: number, key: string): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  // Murmur's finaliser: neighbouring keys come out unrelated.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
