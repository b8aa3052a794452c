// A bare node:http server that answers every call with the same few bytes: the baseline for the sandbox API.
import { createServer } from 'node:http';

const CONSTANT =
  '{"status":"success","data":{"purchaseOrderNumber":"PO-0000000","orderState":"NEW"},"error":null}';

const server = createServer((request, response) => {
  request.on('data', () => undefined);
  request.on('end', () => {
    response.writeHead(201, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': CONSTANT.length,
    });
    response.end(CONSTANT);
  });
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') {
    process.send?.({ host: '127.0.0.1', port: address.port, token: 'any' });
  }
});
