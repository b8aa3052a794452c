import { describeHardWorlds } from './hard-worlds.ts';

// Each half of the worlds in a file of its own, so that they run side by side.
describeHardWorlds(0);
