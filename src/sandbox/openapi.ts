import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type SandboxSettings, TOKEN_PATHS } from './sandbox-options.ts';

const DOCUMENT = new URL('../../docs/openapi.yaml', import.meta.url);

/** `docs/openapi.yaml` with the addresses of a running sandbox, its token path, and the shape of its list. */
export function openApi(
  { baseUrl, authUrl }: { baseUrl: string; authUrl: string },
  { tokenPath, listShape, listItems }: SandboxSettings,
): object {
  const document = parse(readFileSync(DOCUMENT, 'utf8'));
  const { ListEnvelope, ListedPurchaseOrder } = document.components.schemas;
  document.servers = [{ url: baseUrl }];
  const token = { ...document.paths[TOKEN_PATHS[0]], servers: [{ url: authUrl }] };
  for (const path of TOKEN_PATHS) delete document.paths[path];
  document.paths[tokenPath] = token;
  document.components.securitySchemes.clientCredentials.flows.clientCredentials.tokenUrl =
    authUrl + tokenPath;
  if (listShape === 'array')
    ListEnvelope.properties.data = ListEnvelope.properties.data.properties.purchaseOrders;
  if (!listItems) {
    delete ListedPurchaseOrder.properties.items;
    ListedPurchaseOrder.required = ['purchaseOrderNumber', 'orderState'];
  }
  return document;
}
