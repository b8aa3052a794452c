// pm2 start ecosystem.config.cjs            one daemon with config/po-sync.yaml
// PO_SYNC_CONFIG=… pm2 start ecosystem.config.cjs
const path = require('node:path');

/** Longer than a daemon takes to finish its calls: delivery.timeout and 5 s more, and the time to hand the rest back. */
const KILL_TIMEOUT = 45_000;

module.exports = {
  apps: [
    {
      name: 'po-sync',
      cwd: __dirname,
      script: path.join(__dirname, 'src/main.ts'),
      args: 'start',
      interpreter: path.join(__dirname, 'node_modules/.bin/node'),
      exec_mode: 'fork',
      // Several daemons share one Redis and one inbox: each then needs an admin port of its own, PO_SYNC_ADMIN_PORT=0.
      instances: 1,
      wait_ready: true,
      listen_timeout: 60_000,
      kill_timeout: KILL_TIMEOUT,
      // Else pm2 ends the private Redis together with the daemon, before the daemon has stored its last outcomes.
      treekill: false,
      // What it cannot do at start it cannot do the tenth time either; ten quick ends in a row are enough to tell.
      min_uptime: 10_000,
      max_restarts: 10,
      env: { NODE_ENV: 'production' },
    },
  ],
};
