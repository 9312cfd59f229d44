// Who tried, who may, and who did: the attempts that were refused, the ways in, and the log of everything.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { accounts, overview, ownSession, publicConfig, subscription } from '../../api/queries.ts';
import { counted, figure } from '../../parts/numbers.ts';
import { Page, WaitingPage } from '../../parts/page.tsx';
import { ageInWords } from '../../parts/times.ts';
import { useTogether } from '../../parts/together.ts';
import { isCharting } from './addresses.ts';
import { Addresses } from './addresses.tsx';
import { AfterTheft } from './after-theft.tsx';
import { ApiKeys } from './api-keys.tsx';
import { answerOf } from './attacks.ts';
import { Attempts } from './attempts.tsx';
import { AuditLog } from './audit-log.tsx';
import { Own } from './own.tsx';
import { afterTheft, allowedIps, apiKeys, attacks, auditLog, sessions } from './questions.ts';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';

export default function Security() {
  const isThere = useAll();
  const { data } = useQuery(attacks);
  const answer = data && answerOf(data.found.length, data.isAll);
  if (!isThere) return <WaitingPage name="Security" words="Who tried, and who may" />;
  return (
    <Page
      title={answer ? answer.count + answer.rest : 'Security'}
      answer={
        answer ? (
          <>
            {answer.count}
            <span className="quiet">{answer.rest}</span>
          </>
        ) : (
          <span className="quiet">Who tried, and who may</span>
        )
      }
      facts={<Facts />}
    >
      <AfterTheft />
      <Attempts />
      <div className="columns even">
        <Addresses />
        <SecondFactor />
      </div>
      <div className="columns even">
        <ApiKeys />
        <Sessions />
      </div>
      <AuditLog />
      <Own />
    </Page>
  );
}

/** What the parts below ask for, each for itself. */
const useAll = (): boolean =>
  useTogether(
    useQuery(attacks),
    useQuery(afterTheft),
    useQuery(allowedIps),
    useQuery(apiKeys),
    useQuery(sessions),
    useInfiniteQuery(auditLog('')),
    useQuery(accounts),
    useQuery(overview),
    useQuery(ownSession),
    useQuery(publicConfig),
    useQuery(subscription),
  );

function Facts() {
  const { data: session } = useQuery(ownSession);
  const { data: list } = useQuery(allowedIps);
  const { data: { audit } = {} } = useQuery(overview);
  const charting = list?.filter(({ ip_address }) => isCharting(ip_address)).length ?? 0;
  const others = (list?.length ?? 0) - charting;
  return (
    <>
      <Link to="/notifications">Where you are notified</Link>
      {session && (
        <span>
          Second factor: <b>{session.totp_enabled ? 'on' : 'off'}</b>
        </span>
      )}
      {list &&
        (list.length === 0 ? (
          <span>
            signals and trading from <b>any address</b>
          </span>
        ) : (
          <span>
            signals and trading only from{' '}
            {charting > 0 && (
              <>
                <b>{charting}</b> of the charting platform’s addresses
              </>
            )}
            {charting > 0 && others > 0 && ' and '}
            {others > 0 && (
              <>
                <b>{counted(others, 'entry', 'entries')}</b> of yours
              </>
            )}
          </span>
        ))}
      {audit &&
        (audit.sealed ? (
          <span>
            audit log sealed to entry <b>{figure(audit.sealed_up_to)}</b>
          </span>
        ) : (
          <span className="act">
            audit log sealed to entry {figure(audit.sealed_up_to)}; newer entries have waited{' '}
            {ageInWords(audit.unsealed_seconds * 1000)} for their seal
          </span>
        ))}
    </>
  );
}
