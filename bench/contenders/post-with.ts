import type { Pool } from 'undici';

/** Posts one order's body; throws unless the API created the order. */
export function postWith(pool: Pool, token: string): (body: string) => Promise<void> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json',
  };
  return async (body) => {
    const answer = await pool.request({
      method: 'POST',
      path: '/api/v1/purchase-orders',
      headers,
      body,
    });
    const said = await answer.body.text();
    if (answer.statusCode !== 201) throw new Error(`HTTP ${answer.statusCode}: ${said}`);
  };
}
