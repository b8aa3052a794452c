import { type DetailedPeerCertificate, TLSSocket } from 'node:tls';

/** A certificate that a server sent: the names of its holder and its issuer, and when it is valid, in milliseconds since 1970. */
export type Link = { subject: string; issuer: string; from: number; to: number };

const chains = new WeakMap<Error, readonly Link[]>();

/** What the server sent whose certificate was refused with this error, its own certificate first; empty if unknown. */
export function chainOf(error: Error): readonly Link[] {
  return chains.get(error) ?? [];
}

/** Remembers what a server sends until its certificate is refused: Node.js ends the connection at once, and the error lacks it. */
export function watchChain(socket: unknown): void {
  if (!(socket instanceof TLSSocket)) return;
  socket.prependOnceListener('secure', () => {
    const chain = linksOf(socket.getPeerCertificate(true));
    socket.prependOnceListener('error', (error) => void chains.set(error, chain));
  });
}

/** More than any chain has. */
const MOST = 10;

function linksOf(own: DetailedPeerCertificate): Link[] {
  const links: Link[] = [];
  for (let one = own; one?.raw && links.length < MOST; one = one.issuerCertificate) {
    const [from, to] = [Date.parse(one.valid_from), Date.parse(one.valid_to)];
    links.push({ subject: nameOf(one.subject), issuer: nameOf(one.issuer), from, to });
    if (one.issuerCertificate === one) break;
  }
  return links;
}

/** The most telling part of a distinguished name, quoted and safe to show. */
export function nameOf({
  CN,
  O,
  OU,
}: Partial<Record<'CN' | 'O' | 'OU', string | string[]>>): string {
  const [name = 'without a name'] = [CN, O, OU].flat().filter(Boolean);
  return `"${String(name)
    .replace(/[\p{Cc}\p{Cf}"]/gu, '?')
    .slice(0, 100)}"`;
}
