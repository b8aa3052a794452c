import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type Manifest = Record<'dependencies' | 'optionalDependencies' | 'devDependencies', Record<string, string>> & {
  allowScripts: Record<string, boolean>;
};
type Locked = {
  version: string;
  license?: string;
  dev?: true;
  resolved?: string;
  integrity?: string;
  hasInstallScript?: true;
};

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const manifest: Manifest = JSON.parse(read('package.json'));
const lock: { packages: Record<string, Locked> } = JSON.parse(read('package-lock.json'));
const locked = Object.entries(lock.packages).filter(([place]) => place !== '');
const direct = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.devDependencies };

const nameOf = (place: string) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);

test('every chosen package is explained, and no other', () => {
  const rows = read('docs/dependencies.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const explained = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );
  expect(new Set(explained)).toEqual(new Set(Object.keys(direct)));
});

test('versions are exact', () => {
  expect(Object.entries(direct).filter(([, version]) => !/^(?:npm:[a-z-]+@)?\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test('the lock file contains a hash of every package and no address', () => {
  expect(locked.filter(([, one]) => !one.integrity).map(([place]) => place)).toEqual([]);
  expect(locked.filter(([, one]) => one.resolved).map(([place]) => place)).toEqual([]);
});

test('no package runs a script when it is installed, with any npm', () => {
  expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
});

test('every install script has a decision', () => {
  const scripted = locked.filter(([, one]) => one.hasInstallScript).map(([place]) => nameOf(place));
  expect(scripted.filter((name) => manifest.allowScripts[name] === undefined)).toEqual([]);
});

test('runtime packages have a permissive license', () => {
  const permissive = ['MIT', 'ISC', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD'];
  const others = locked.filter(([, one]) => !one.dev && !permissive.includes(one.license ?? 'none'));
  expect(others.map(([place, one]) => `${nameOf(place)}: ${one.license}`)).toEqual([]);
});
