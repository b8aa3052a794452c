import { CONCURRENCY } from './contender.ts';

/** Core nodes only: watch → file → CSV → orders → token → calls. Keeps everything in memory. */
export function nodeRedFlow(inbox: string, origin: string): object[] {
  const wired = (id: string, type: string, next: string | undefined, more: object) => {
    return { id, type, z: 'flow', x: 0, y: 0, wires: next === undefined ? [] : [[next]], ...more };
  };
  const request = { method: 'use', ret: 'obj', paytoqs: 'ignore', url: '', persist: true };
  return [
    { id: 'flow', type: 'tab', label: 'orders' },
    wired('watch', 'watch', 'new', { files: inbox, recursive: false }),
    wired('new', 'function', 'read', { func: NEW_FILES, outputs: 1 }),
    wired('read', 'file in', 'csv', { filename: 'filename', filenameType: 'msg', format: 'utf8' }),
    wired('csv', 'csv', 'group', {
      spec: 'rfc',
      sep: ',',
      hdrin: true,
      multi: 'mult',
      strings: true,
    }),
    wired('group', 'function', 'token', { func: GROUP.replaceAll('ORIGIN', origin), outputs: 1 }),
    wired('token', 'http request', 'send', request),
    wired('send', 'function', 'post', { func: SEND.replaceAll('ORIGIN', origin), outputs: 1 }),
    wired('post', 'http request', 'send', request),
  ];
}

const NEW_FILES = `
const seen = context.get('seen') ?? {};
if (msg.event !== 'update' || !msg.filename.endsWith('.csv') || seen[msg.filename]) return null;
seen[msg.filename] = true;
context.set('seen', seen);
return msg;`;

const GROUP = `
const orders = new Map();
for (const { purchaseOrderNumber, orderState, articleCode, quantity } of msg.payload) {
  if (!orders.has(purchaseOrderNumber)) orders.set(purchaseOrderNumber, { purchaseOrderNumber, orderState, items: [] });
  orders.get(purchaseOrderNumber).items.push({ articleCode, quantity: Number(quantity) });
}
flow.set('orders', [...orders.values()].reverse());
const payload = { grant_type: 'client_credentials', client_id: 'bench', client_secret: 'bench' };
const headers = { 'content-type': 'application/x-www-form-urlencoded' };
return { method: 'POST', url: 'ORIGIN/oauth2/token', headers, payload };`;

/** The token answer triggers the first orders, and each order's answer triggers the next order. */
const SEND = `
const granted = msg.payload.access_token;
if (granted) flow.set('token', granted);
else if (msg.payload.status !== 'success') node.error(msg.payload);
const orders = flow.get('orders');
const headers = {
  authorization: 'Bearer ' + flow.get('token'),
  'content-type': 'application/json',
  accept: 'application/json',
};
for (let i = 0; i < (granted ? ${CONCURRENCY} : 1) && orders.length > 0; i += 1) {
  node.send({ method: 'POST', url: 'ORIGIN/api/v1/purchase-orders', headers: { ...headers }, payload: orders.pop() });
}`;
