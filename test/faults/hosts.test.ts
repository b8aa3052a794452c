import { expect, it } from 'vitest';
import { canMakeHosts, hosts } from './hosts.ts';

it.skipIf(!(await canMakeHosts()))(
  'of three hosts one is cut off, one is killed and one is frozen: no order is lost or doubled, and theirs move on within a minute',
  async () => {
    const figures = await hosts(1_200);
    process.stdout.write(`three hosts: ${JSON.stringify(figures)}\n`);
    expect(figures).toMatchObject({ lost: 0, double: 0, givenUp: 0, untidy: [], late: 0 });
    expect(figures.held).toBeGreaterThan(0);
  },
);
