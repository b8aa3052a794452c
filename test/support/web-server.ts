import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server } from 'node:net';

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

/** An HTTP server on loopback; `answer` may be changed while it runs. */
export async function openWebServer(answer: Answer, port = 0) {
  const server = createServer((request, response) => void opened.answer(request, response));
  const opened = {
    answer,
    port: await listen(server, port),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
  return opened;
}

/** Opens a server on loopback and answers its port; 0 is any free one. */
export async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
