import { errorsList } from '../http/docs/errors-list.ts';
import { type AddCommands, examples } from './desk.ts';

export const errors: AddCommands = (noun, { output, does }) => {
  noun.addHelpText('after', examples('errors > ERRORS.md')).action(
    does(async () => {
      output.print(errorsList().trimEnd());
      return 0;
    }),
  );
};
