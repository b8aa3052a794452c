import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { PoSyncError } from '../../core/errors.ts';
import type { Route } from '../http/route.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Files of packages that the pages use, by the name under which they are served. */
const PACKAGES: Readonly<Record<string, string>> = {};

/** The scripts and styles of the pages, read from disk once. They contain no data, so they need no login. */
export function assetRoute(): Route {
  const read = new Map<string, Promise<Buffer>>();

  function load(name: string) {
    const known = read.get(name) ?? readAsset(name);
    read.set(name, known);
    return known;
  }

  return {
    method: 'GET',
    path: '/assets/:name',
    needs: 'nobody',
    async handle({ params: { name = '' } }) {
      const type = TYPES[extname(name)];
      if (type === undefined || !/^[a-z][a-z0-9-]*\.[a-z]+$/.test(name)) throw unknownAsset(name);
      const body = await load(name).catch(() => {
        read.delete(name);
        throw unknownAsset(name);
      });
      return { status: 200, type, body, headers: { 'cache-control': 'private, max-age=60' } };
    },
  };
}

function readAsset(name: string): Promise<Buffer> {
  const from = PACKAGES[name];
  const file =
    from === undefined ? new URL(`./assets/${name}`, import.meta.url) : createRequire(import.meta.url).resolve(from);
  return readFile(file);
}

function unknownAsset(name: string): PoSyncError {
  return new PoSyncError('asset-unknown', `Asset ${name} not found.`);
}
