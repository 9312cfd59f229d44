// Looks at everything that the service stands on, and says what is wrong and what to do. It changes nothing.

import { type AddCommands, examples, JSON_OPTION } from './desk.ts';
import { examine } from './doctor/examine.ts';

export const doctor: AddCommands = (noun, { output, config, does }) => {
  noun
    .option('--brokers', 'check every broker, not only those that accounts use')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('doctor', 'doctor --brokers --json'))
    .action(
      does(async ({ brokers = false, json }: { brokers?: boolean; json?: true }) => {
        const progress = output.progress();
        progress.tell('Looking …');
        const { findings, checked } = await examine(config, { allBrokers: brokers });
        progress.end();
        if (json) output.json({ healthy: findings.length === 0, findings, checked });
        else {
          for (const { area, problem, remedy } of findings)
            output.print(
              `${output.paint('bad', area)}: ${problem}\n  ${output.paint('quiet', '→')} ${remedy}\n`,
            );
          output.print(
            findings.length === 0
              ? `${output.paint('good', 'Nothing wrong was found.')} Looked at: ${checked.join(', ')}.`
              : `${findings.length} ${findings.length === 1 ? 'thing is' : 'things are'} wrong.`,
          );
        }
        return findings.length === 0 ? 0 : 1;
      }),
    );
};
