import { describeConfig } from '../config/table.ts';
import { type AddCommands, examples } from './desk.ts';

export const settings: AddCommands = (noun, { output, does }) => {
  noun.addHelpText('after', examples('config')).action(
    does(async () => {
      output.print(describeConfig());
      return 0;
    }),
  );
};
