import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';

/** An HTTP server on loopback; `answer` may be changed while it runs. */
export async function openWebServer(answer: RequestListener, port = 0) {
  const server = createServer((request, response) => opened.answer(request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const opened = {
    answer,
    port: typeof address === 'object' && address ? address.port : 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
  return opened;
}
