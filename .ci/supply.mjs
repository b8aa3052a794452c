// `npm run check:supply`: the packages that are shipped. Checks that the lock file belongs to package.json and has a hash
// and no address for each package, that licenses are permissive, and that no package runs a script when it is installed.
// Asks the registry for known advisories; without a registry it says so and passes. test/dependencies.test.ts runs it
// against files that are wrong.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The root of the project; another folder for tests. */
const ROOT = pathToFileURL(
  `${process.env.PO_SYNC_SUPPLY_ROOT ?? fileURLToPath(new URL('..', import.meta.url))}/`,
);
const LOCK = new URL('package-lock.json', ROOT);
const PERMISSIVE = [
  'MIT',
  'ISC',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
];
const npm = (...args) =>
  spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });

const json = (name) => JSON.parse(readFileSync(new URL(name, ROOT), 'utf8'));

/** What is wrong with the lock file, the licenses and the install scripts, a sentence each. */
function problemsOf({ packages }) {
  const manifest = json('package.json');
  const all = Object.entries(packages).filter(([place]) => place !== '');
  const nameOf = (place) => place.split('node_modules/').at(-1);
  const isHash = (text) => /^sha512-[A-Za-z0-9+/]{86}==$/.test(text ?? '');
  const bad = (test, says) => all.filter(test).map(([place, one]) => says(nameOf(place), one));
  return [
    ...['dependencies', 'devDependencies', 'optionalDependencies']
      .filter((kind) => JSON.stringify(packages[''][kind]) !== JSON.stringify(manifest[kind]))
      .map((kind) => `package-lock.json: ${kind} differ from package.json`),
    ...bad(
      ([, one]) => !isHash(one.integrity),
      (name) => `${name}: no SHA-512 in the lock file`,
    ),
    ...bad(
      ([, one]) => one.resolved,
      (name) => `${name}: an address in the lock file`,
    ),
    ...bad(
      ([, one]) => !one.dev && !PERMISSIVE.includes(one.license ?? 'none'),
      (name, { license }) => `${name}: license ${license ?? 'unknown'}`,
    ),
    ...bad(
      ([place, one]) => one.hasInstallScript && manifest.allowScripts?.[nameOf(place)] !== false,
      (name) => `${name}: runs a script when it is installed`,
    ),
    ...(/^ignore-scripts=true$/m.test(readFileSync(new URL('.npmrc', ROOT), 'utf8'))
      ? []
      : ['.npmrc: ignore-scripts is not true']),
  ];
}

/** The advisories of high and critical severity; undefined when the registry cannot be asked. */
function advisories() {
  const { stdout } = npm(
    'audit',
    '--json',
    '--omit',
    'dev',
    '--package-lock-only',
    '--fetch-retries',
    '0',
  );
  try {
    const { vulnerabilities } = JSON.parse(stdout);
    if (vulnerabilities === undefined) return undefined;
    return Object.values(vulnerabilities).filter(
      ({ severity }) => severity === 'high' || severity === 'critical',
    );
  } catch {
    return undefined;
  }
}

const lock = JSON.parse(readFileSync(LOCK, 'utf8'));
const problems = problemsOf(lock);
for (const problem of problems) console.log(problem);
if (problems.length === 0)
  console.log('lock file, licenses and install scripts: as they should be');
const isSound = problems.length === 0;
const known = isSound ? advisories() : [];
if (known === undefined) console.log('advisories: not checked, the registry does not answer');
for (const { name, severity, range } of known ?? [])
  console.log(`advisory: ${name} ${range} (${severity})`);
if (isSound && known?.length === 0) console.log('advisories: none of high severity');
process.exitCode = isSound && (known ?? []).length === 0 ? 0 : 1;
