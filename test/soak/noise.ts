/** Bounded random input that a seed repeats. */
export function createNoise(seed: number) {
  let state = seed >>> 0 || 1;
  /** xorshift32: the platform's random numbers cannot be repeated. */
  function random(): number {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  }
  const below = (most: number) => Math.floor(random() * most);
  const chance = (share: number) => random() < share;
  const pick = <T>(all: readonly T[]): T => all[below(all.length)] as T;
  const bytes = (most: number) =>
    Buffer.from(Array.from({ length: below(most) }, () => below(256)));

  /** Changes, cuts, repeats or nests a document. */
  function damage(document: Buffer): Buffer {
    const at = below(document.length + 1);
    switch (below(8)) {
      case 0:
        return document.subarray(0, at);
      case 1:
        return Buffer.concat([document.subarray(0, at), bytes(64), document.subarray(at)]);
      case 2:
        return Buffer.concat([document, document]);
      case 3:
        return Buffer.from('['.repeat(below(200_000)));
      case 4:
        return Buffer.concat([Buffer.from('{"data":"'), Buffer.alloc(below(3_000_000), 'x')]);
      case 5:
        return bytes(2_000);
      case 6: {
        const changed = Buffer.from(document);
        for (let i = 0; i < 1 + below(8) && changed.length > 0; i += 1)
          changed[below(changed.length)] = below(256);
        return changed;
      }
      default:
        return Buffer.from(
          document.toString('utf8').replaceAll(/"[^"]*"/g, (word) => pick([word, pick(WORDS)])),
        );
    }
  }

  function headers(): Record<string, string> {
    return Object.fromEntries(Array.from({ length: below(6) }, () => [pick(NAMES), pick(VALUES)]));
  }

  /** A file as a neighbor may drop it: a correct one, a damaged one, or bytes. */
  function file(nth: number): { name: string; content: Buffer } {
    const { name, content } = pick(FILES);
    return { name: `f-${nth}-${name}`, content: chance(0.3) ? content(nth) : damage(content(nth)) };
  }

  /** A request to the admin port, from correct to bytes. */
  function request(): Buffer {
    const lines = [`${pick(METHODS)} ${pick(PATHS)} ${pick(['HTTP/1.1', 'HTTP/1.0', 'HTTP/9'])}`];
    for (const [name, value] of Object.entries(headers())) lines.push(`${name}: ${value}`);
    lines.push(`Host: ${pick(['127.0.0.1', 'evil.example', '[::1]', ''])}`);
    const whole = Buffer.from(
      `${lines.join('\r\n')}\r\n\r\n${chance(0.3) ? 'x'.repeat(below(100_000)) : ''}`,
    );
    return chance(0.6) ? whole : damage(whole).subarray(0, 200_000);
  }

  return { below, chance, pick, damage, headers, file, request };
}

const WORDS = [
  'null',
  '-1',
  '1e999',
  '"\\u0000"',
  '""',
  '[]',
  '{}',
  'true',
  '"F-1"',
  '99999999999999999999',
];
const NAMES = [
  'content-type',
  'retry-after',
  'location',
  'content-encoding',
  'x-long',
  'cookie',
  'authorization',
];
const VALUES = [
  'application/json',
  '0',
  '-5',
  '3000',
  'gzip',
  'x'.repeat(3_000),
  'Wed, 21 Oct 2015 07:28:00 GMT',
  '/',
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'G\0T'];
const PATHS = [
  '/healthz',
  '/readyz',
  '/',
  '/metrics',
  '/../../etc/passwd',
  '//x',
  '/%00',
  '*',
  `/${'a'.repeat(5_000)}`,
];
const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity\n';

const FILES: readonly { name: string; content: (nth: number) => Buffer }[] = [
  {
    name: 'a.csv',
    content: (nth) =>
      Buffer.from(`${HEAD}F-${nth},NEW,A,1\nF-${nth},NEW,B,2\nG-${nth},NEW,"C;""x",3\n`),
  },
  {
    name: 'b.json',
    content: (nth) =>
      Buffer.from(
        `[{"purchaseOrderNumber":"J-${nth}","orderState":"NEW","items":[{"articleCode":"A","quantity":1}]},{"purchaseOrderNumber":"K-${nth}","orderState":"NEW","items":[{"articleCode":"B","quantity":2}]}]`,
      ),
  },
  {
    name: 'c.tsv',
    content: (nth) => Buffer.from(`${HEAD}T-${nth},NEW,A,1\n`.replaceAll(',', '\t')),
  },
  { name: 'd.xlsx', content: () => Buffer.from('PK\u0003\u0004 is not the rest of a workbook') },
  {
    name: 'e.ndjson',
    content: (nth) => Buffer.from(`{"purchaseOrderNumber":"N-${nth}"}\n{"a":1}\n`),
  },
  {
    name: 'f.xml',
    content: (nth) =>
      Buffer.from(
        `<orders><order><purchaseOrderNumber>X-${nth}</purchaseOrderNumber></order></orders>`,
      ),
  },
];
