/** A token of the reference API. */
export async function bearerOf(
  authUrl: string,
  credentials: Record<string, string>,
): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: credentials['PO_SYNC_STAGING_CLIENT_ID'] ?? '',
    client_secret: credentials['PO_SYNC_STAGING_CLIENT_SECRET'] ?? '',
  });
  const answer = await fetch(`${authUrl}/oauth2/token`, { method: 'POST', body });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  return token;
}

/** The number of each order that the reference API has, in the order of creation. */
export async function listedNumbers(baseUrl: string, token: string): Promise<string[]> {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    'content-type': 'application/json',
  };
  const answer = await fetch(`${baseUrl}/purchase-orders`, { headers });
  const { data } = (await answer.json()) as {
    data: { purchaseOrderNumber: string }[] | { purchaseOrders: { purchaseOrderNumber: string }[] };
  };
  const orders = Array.isArray(data) ? data : data.purchaseOrders;
  return orders.map(({ purchaseOrderNumber }) => purchaseOrderNumber);
}
