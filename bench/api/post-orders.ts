import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** The result of a burst of creations. */
export type Burst = { orders: number; milliseconds: number; perSecond: number };

export type Target = { host: string; port: number; token: string };

/**
 * POSTs `orders` purchase orders over `connections` kept-alive connections, one call in flight on each,
 * directly over sockets: cheaper than any HTTP client, so that the server is the bottleneck.
 * Throws if an answer is not 201.
 */
export async function postOrders(
  target: Target,
  prefix: string,
  orders: number,
  connections: number,
): Promise<Burst> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(target)));
  let next = 0;
  const take = () => (next < orders ? requestText(target, `${prefix}-${next++}`) : undefined);
  const begun = performance.now();
  await Promise.all(sockets.map((socket) => drive(socket, take)));
  const milliseconds = performance.now() - begun;
  for (const socket of sockets) socket.destroy();
  return { orders, milliseconds, perSecond: (orders / milliseconds) * 1000 };
}

async function open({ host, port }: Target): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true });
  await once(socket, 'connect');
  return socket;
}

function requestText({ host, port, token }: Target, number: string): string {
  const items = [
    { articleCode: 'A-100', quantity: 3 },
    { articleCode: 'A-200', quantity: 12 },
  ];
  const body = JSON.stringify({ purchaseOrderNumber: number, orderState: 'NEW', items });
  return (
    `POST /api/v1/purchase-orders HTTP/1.1\r\nhost: ${host}:${port}\r\nauthorization: Bearer ${token}\r\n` +
    `content-type: application/json\r\naccept: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  );
}

function drive(socket: Socket, take: () => string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = '';
    const send = () => {
      const text = take();
      if (text === undefined) resolve();
      else socket.write(text);
    };
    socket.setEncoding('latin1');
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed the connection')));
    socket.on('data', (chunk: string) => {
      seen += chunk;
      if (!isWhole(seen)) return;
      const answer = seen;
      seen = '';
      if (answer.startsWith('HTTP/1.1 201')) send();
      else reject(new Error(`not created: ${answer}`));
    });
    send();
  });
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(answer)?.[1];
  return answer.length >= end + 4 + Number(length);
}
