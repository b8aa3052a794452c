// pm2 start ecosystem.config.cjs                          one daemon with config/po-sync.yaml
// PO_SYNC_CONFIG=… PO_SYNC_INSTANCES=3 pm2 start …        three daemons that share the work of another configuration
// PO_SYNC_DELIVERIES=4 pm2 start ecosystem.config.cjs     one daemon that takes files, and four that call the API
// PO_SYNC_NAME=po-sync-staging pm2 start …                another name in pm2, for a second configuration beside the first
const { existsSync } = require('node:fs');
const path = require('node:path');

const name = process.env.PO_SYNC_NAME || 'po-sync';
const instances = numberIn('PO_SYNC_INSTANCES', 1);
const deliveries = numberIn('PO_SYNC_DELIVERIES', 0);

/** `usual`: where the variable is empty or not set. */
function numberIn(variable, usual) {
  const value = process.env[variable]?.trim() || String(usual);
  if (/^[0-9]+$/.test(value)) return Number(value);
  throw new Error(
    `${variable}: "${value}" is not a number of daemons. Set it to a whole number, or unset it.`,
  );
}

// `pm2 save` writes the environment of a process to a file. Therefore pm2 gets only the variables that po-sync needs
// and no secret: set secrets by `PO_SYNC_…_FILE`, which contains a path.
const SYSTEM =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|XDG_.*|NODE_.*|SSL_CERT_.*|NO_PROXY)$/i;
const PROXY = /^HTTPS?_PROXY$/i;
const OWN =
  /^PO_SYNC_(?:.*_FILE|.*_CLIENT_ID|CONFIG|ENVIRONMENT|CONFIRM|ADMIN_PORT|NAME|INSTANCES|DELIVERIES|REDIS_USERNAME)$/;

function isPassed([name, value]) {
  if (name === 'PO_SYNC_REDIS_URL' || PROXY.test(name)) return !/:[^/@]*@/.test(value);
  return SYSTEM.test(name) || OWN.test(name);
}

const variables = Object.entries(process.env);
const isMissed = (one) => (one[0].startsWith('PO_SYNC_') || PROXY.test(one[0])) && !isPassed(one);
const withheld = variables.filter(isMissed).map(([name]) => name);
if (withheld.length > 0) {
  const remedy =
    'Put each value in a file and set the variable with _FILE appended to its name. For a proxy: PO_SYNC_…_PROXY_PASSWORD_FILE.';
  process.stderr.write(
    `po-sync: not passed to pm2, which would store it: ${withheld.join(', ')}. ${remedy}\n`,
  );
}

// As in bin/po-sync: npm puts the packages of a global installation below this one, of a local one beside it.
const machine = `node-linux-${process.arch}/bin/node`;
const nodes = ['node_modules/.bin/node', `node_modules/${machine}`, `../${machine}`];
const interpreter =
  nodes.map((one) => path.join(__dirname, one)).find((one) => existsSync(one)) ?? 'node';
// Node.js does not strip types below `node_modules`, where an installed package is.
const isInstalled = __dirname.split(path.sep).includes('node_modules');
const stripTypes = `--import ${path.join(__dirname, 'bin/strip-types.mjs')} --disable-warning=ExperimentalWarning `;

function appOf({ name, args, instances, env }) {
  return {
    name,
    cwd: __dirname,
    script: path.join(__dirname, 'src/main.ts'),
    args,
    interpreter,
    // As in bin/po-sync: on a large machine Node.js would use hundreds of megabytes before it collects garbage.
    interpreter_args: `${isInstalled ? stripTypes : ''}--disable-sigusr1 --max-semi-space-size=8 --max-old-space-size=512`,
    exec_mode: 'fork',
    instances,
    wait_ready: true,
    // Redis may have to load much data; if it never becomes ready, the daemon exits and logs the reason.
    listen_timeout: 60_000,
    // Longer than the daemon drains: `delivery.timeout` plus 5 s for calls in progress.
    kill_timeout: 45_000,
    // Otherwise pm2 stops the private Redis with the daemon, before the daemon has stored its last outcomes.
    treekill: false,
    // A failure to start needs a person: after ten quick exits the process stays stopped.
    min_uptime: 10_000,
    max_restarts: 10,
    // The empty string matches the name of every variable of the shell; `env` contains those that are passed.
    filter_env: [''],
    env: {
      ...Object.fromEntries(variables.filter(isPassed)),
      NODE_ENV: 'production',
      ...env,
    },
    // The number of each instance, which po-sync adds to the admin port: 9464, 9465, … pm2 keeps it over restarts.
    instance_var: 'PO_SYNC_INSTANCE',
  };
}

const everything = { name, args: 'start', instances };
const intake = { name: `${name}-intake`, args: 'start --role intake', instances: 1 };
const delivery = {
  name: `${name}-delivery`,
  args: 'start --role delivery',
  instances: deliveries,
  // Their admin ports follow that of the intake daemon. An earlier version stored another port in pm2.
  env: { PO_SYNC_FIRST_INSTANCE: '1', PO_SYNC_ADMIN_PORT: process.env.PO_SYNC_ADMIN_PORT ?? '' },
};

module.exports = { apps: (deliveries > 0 ? [intake, delivery] : [everything]).map(appOf) };
