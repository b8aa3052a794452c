import { describeHardWorlds } from './hard-worlds.ts';

// Each half of the worlds in a separate file, so that they run in parallel.
describeHardWorlds(0);
