import { LIMITS } from '../../order/limits.ts';

/** Keeps the bytes of the first value, unless it is larger than an order may be. */
export function keepFirst() {
  let chunks: Buffer[] | undefined = [];
  let bytes = 0;
  let isTooLarge = false;
  return {
    add(chunk: Buffer): void {
      if (chunks === undefined) return;
      if (bytes > 2 * LIMITS.recordBytes) {
        isTooLarge = true;
        chunks = undefined;
        return;
      }
      chunks.push(Buffer.from(chunk));
      bytes += chunk.length;
    },
    take(from: number, to: number): Buffer | undefined {
      isTooLarge ||= to - from > LIMITS.recordBytes;
      const all = isTooLarge || chunks === undefined ? undefined : Buffer.concat(chunks).subarray(from, to);
      chunks = undefined;
      return all;
    },
    isTooLarge: () => isTooLarge,
  };
}
