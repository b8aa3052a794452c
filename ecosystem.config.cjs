// pm2 start ecosystem.config.cjs                          one daemon with config/po-sync.yaml
// PO_SYNC_CONFIG=… PO_SYNC_INSTANCES=3 pm2 start …        three that share the work of another configuration
const path = require('node:path');

const instances = Number(process.env.PO_SYNC_INSTANCES ?? 1);

module.exports = {
  apps: [
    {
      name: 'po-sync',
      cwd: __dirname,
      script: path.join(__dirname, 'src/main.ts'),
      args: 'start',
      interpreter: path.join(__dirname, 'node_modules/.bin/node'),
      // As in bin/po-sync: on a large machine Node would let garbage pile up.
      interpreter_args: '--disable-sigusr1 --max-semi-space-size=8 --max-old-space-size=512',
      exec_mode: 'fork',
      instances,
      wait_ready: true,
      // Redis may have much to load; one that never is ready ends by itself, with the reason in the log.
      listen_timeout: 60_000,
      // Longer than a daemon drains: delivery.timeout and 5 s for the calls in flight, then the rest is handed back.
      kill_timeout: 45_000,
      // Else pm2 ends the private Redis together with the daemon, before the daemon has stored its last outcomes.
      treekill: false,
      // What keeps it from starting does not mend itself: after ten quick ends it stays down, to be seen.
      min_uptime: 10_000,
      max_restarts: 10,
      env: {
        NODE_ENV: 'production',
        ...(instances > 1 && { PO_SYNC_ADMIN_PORT: process.env.PO_SYNC_ADMIN_PORT ?? 9464 }),
      },
      // Each of several needs an admin port of its own: 9464, 9465, …
      ...(instances > 1 && { increment_var: 'PO_SYNC_ADMIN_PORT' }),
    },
  ],
};
