// `npm run package:deb`: builds po-sync_VERSION_ARCHITECTURE.deb in the current folder from the package of `npm pack`, so
// that both contain the same tested libraries, with Node.js. Needs dpkg-deb.
// Plain JavaScript, like the rest of bin/. An argument names another folder for the result.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = path.resolve(process.argv[2] ?? '.');
const { name, version, description } = JSON.parse(
  readFileSync(path.join(root, 'package.json'), 'utf8'),
);
const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch];
const run = (file, ...args) =>
  execFileSync(file, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });

/** `size`: of the installed files in KiB. */
const controlOf = (size) => `Package: ${name}
Version: ${version}
Architecture: ${architecture}
Installed-Size: ${size}
Maintainer: po-sync maintainers <po-sync@example.com>
Depends: adduser, ca-certificates, libc6, libstdc++6
Recommends: redis-tools
Section: net
Priority: optional
Description: ${description}
 Runs as the systemd service po-sync under its own user. Configure
 /etc/po-sync/po-sync.yaml, then enable the service.
`;

// The service is not started: it needs addresses and credentials first.
const POSTINST = `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  getent passwd po-sync >/dev/null || adduser --system --group --home /var/lib/po-sync --no-create-home --quiet po-sync
  install -d -o po-sync -g po-sync -m 0750 /var/lib/po-sync
  # Members of the group may drop files.
  [ -d /var/lib/po-sync/inbox ] || install -d -o po-sync -g po-sync -m 2770 /var/lib/po-sync/inbox
  chown root:po-sync /etc/po-sync /etc/po-sync/po-sync.yaml
  chmod 0750 /etc/po-sync
  chmod 0640 /etc/po-sync/po-sync.yaml
  if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
fi
`;
const PRERM = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then systemctl disable --now po-sync || true; fi
`;
// Orders that were sent must not be sent again by a later installation: /var/lib/po-sync with the ledger is kept.
const POSTRM = `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
if [ "$1" = purge ]; then
  rm -f /etc/po-sync/client-secret /etc/po-sync/environment
  rmdir --ignore-fail-on-non-empty /etc/po-sync 2>/dev/null || true
  echo "po-sync: /var/lib/po-sync with the ledger is kept; remove it yourself if you no longer need it" >&2
fi
`;

const CONFIG = `# yaml-language-server: $schema=/opt/po-sync/config/po-sync.schema.json
# Set both addresses. /opt/po-sync/config/po-sync.example.yaml explains every key.
# The client identifier is a line in /etc/po-sync/environment, PO_SYNC_PRODUCTION_CLIENT_ID=...;
# the secret is the file /etc/po-sync/client-secret, which only root may read.
environment: production
data: /var/lib/po-sync/data
environments:
  production:
    protected: true
    baseUrl: https://api.example.com/api/v1
    authUrl: https://auth.example.com
sources:
  - { name: inbox, type: inbox, path: /var/lib/po-sync/inbox }
reports: { path: /var/lib/po-sync/reports, keep: 90d }
`;

const folder = mkdtempSync(path.join(tmpdir(), 'po-sync-deb-'));
try {
  const tree = path.join(folder, 'tree');
  const home = path.join(tree, 'opt/po-sync');
  for (const place of [
    home,
    ...['DEBIAN', 'usr/bin', 'usr/sbin', 'etc/po-sync', 'lib/systemd/system'].map(inTree),
  ]) {
    mkdirSync(place, { recursive: true });
  }
  run('npm', 'pack', '--pack-destination', folder);
  run(
    'tar',
    '-xzf',
    path.join(folder, `${name}-${version}.tgz`),
    '-C',
    home,
    '--strip-components=1',
    '--no-same-owner',
  );
  const node = `node_modules/node-linux-${process.arch}`;
  for (const part of ['bin/node', 'package.json', 'LICENSE']) {
    cpSync(path.join(root, node, part), path.join(home, node, part), { recursive: true });
  }
  symlinkSync('../../opt/po-sync/bin/po-sync', inTree('usr/bin/po-sync'));
  cpSync(
    path.join(root, 'docs/deploy/po-sync.service'),
    inTree('lib/systemd/system/po-sync.service'),
  );
  cpSync(path.join(root, 'docs/deploy/po-sync-service'), inTree('usr/sbin/po-sync-service'));
  chmodSync(inTree('usr/sbin/po-sync-service'), 0o755);
  write('etc/po-sync/po-sync.yaml', CONFIG, 0o640);
  write('DEBIAN/conffiles', '/etc/po-sync/po-sync.yaml\n', 0o644);
  for (const [script, text] of Object.entries({
    postinst: POSTINST,
    prerm: PRERM,
    postrm: POSTRM,
  })) {
    write(`DEBIAN/${script}`, text, 0o755);
  }
  run('chmod', '-R', 'u+rwX,go+rX,go-w', home);
  const [size] = execFileSync('du', ['-sk', tree], { encoding: 'utf8' }).split('\t');
  write('DEBIAN/control', controlOf(size), 0o644);
  const file = path.join(target, `${name}_${version}_${architecture}.deb`);
  // xz would save a third and take a minute.
  run('dpkg-deb', '--root-owner-group', '-Zgzip', '--build', tree, file);
  process.stdout.write(`${file}\n`);

  function inTree(place) {
    return path.join(tree, place);
  }
  function write(place, text, mode) {
    writeFileSync(inTree(place), text);
    chmodSync(inTree(place), mode);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
