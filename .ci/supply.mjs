// `npm run check:supply`: the packages that are shipped. Compares docs/sbom.json with the lock file (`--write` renews it)
// and asks the registry for known advisories; without a registry it says so and passes.
// Hashes, licenses and install scripts are checked by test/dependencies.test.ts.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const SBOM = new URL('../docs/sbom.json', import.meta.url);
const LOCK = new URL('../package-lock.json', import.meta.url);
const npm = (...args) => spawnSync('npm', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });

/** The parts list of what is shipped, as CycloneDX 1.5. `npm sbom --omit dev` leaves out packages that tools use too. */
function sbomOf({ packages }) {
  const { name, version, license } = packages[''];
  const shipped = Object.entries(packages).filter(([place, one]) => place !== '' && !one.dev);
  const components = shipped.map(([place, one]) => componentOf(place.split('node_modules/').at(-1), one));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', name, version, licenses: [{ license: { id: license } }] } },
    components: components.sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1)),
  };
}

function componentOf(name, { version, license, integrity, optional }) {
  const content = Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');
  return {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: optional ? 'optional' : 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    hashes: [{ alg: 'SHA-512', content }],
    licenses: [{ license: { id: license } }],
  };
}

/** The advisories of high and critical severity; undefined when the registry cannot be asked. */
function advisories() {
  const { stdout } = npm('audit', '--json', '--omit', 'dev', '--package-lock-only', '--fetch-retries', '0');
  try {
    const { vulnerabilities } = JSON.parse(stdout);
    if (vulnerabilities === undefined) return undefined;
    return Object.values(vulnerabilities).filter(({ severity }) => severity === 'high' || severity === 'critical');
  } catch {
    return undefined;
  }
}

const sbom = `${JSON.stringify(sbomOf(JSON.parse(readFileSync(LOCK, 'utf8'))), undefined, 2)}\n`;
if (process.argv.includes('--write')) writeFileSync(SBOM, sbom);
const isSame = readFileSync(SBOM, 'utf8') === sbom;
console.log(
  isSame ? 'docs/sbom.json agrees with the lock file' : 'docs/sbom.json is old: npm run check:supply -- --write',
);
const known = advisories();
if (known === undefined) console.log('advisories: not checked, the registry does not answer');
for (const { name, severity, range } of known ?? []) console.log(`advisory: ${name} ${range} (${severity})`);
if (known?.length === 0) console.log('advisories: none of high severity');
process.exitCode = isSame && (known ?? []).length === 0 ? 0 : 1;
