// `start` is carried out by main.ts, which has what it starts. Here is its help.

import { type AddCommands, examples } from './desk.ts';

export const start: AddCommands = (noun) => {
  noun
    .option('--demo', 'with invented strategies that play on paper accounts, in a folder of its own')
    .addHelpText('after', examples('start', 'start --demo'))
    // Who comes here said more than main.ts understands.
    .action(() => noun.error('start takes nothing but --demo.'));
};
