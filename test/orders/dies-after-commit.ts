// The real program, which dies in the very moment in which a group's signal is committed, or right before it: started by
// kill-groups.test.ts.

import { readConfig } from '../../src/config/config.ts';
import type { Db } from '../../src/data/engine/db.ts';
import { openFillpath } from '../../src/main.ts';

const dying = (whole: Db): Db => ({
  ...whole,
  async commit(unit) {
    const isGroups = unit.some(({ parts }) => parts.join('?').includes('into signal_members'));
    if (isGroups && process.env.DIES === 'before') process.kill(process.pid, 'SIGKILL');
    const lost = await whole.commit(unit);
    if (isGroups) process.kill(process.pid, 'SIGKILL');
    return lost;
  },
});

const fillpath = await openFillpath(readConfig(process.env), { db: dying });
console.log(`ready at ${await fillpath.listen()}`);
